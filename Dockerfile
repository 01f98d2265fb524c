# olive-iw with viewer and films, on a CPU:
#   docker build --tag olive-iw .
#   docker run --rm -it olive-iw play breakout
#   docker run --rm --volume "$PWD/runs:/home/olive/runs" olive-iw run breakout --algorithm olive-plus
#   docker run --rm --publish 127.0.0.1:8765:8765 olive-iw view breakout --host 0.0.0.0 --no-browser
FROM python:3.11-slim AS development
# What `make setup` and the tests want; .devcontainer takes this stage.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends chromium git make \
 && rm -rf /var/lib/apt/lists/*

FROM python:3.11-slim
COPY . /tmp/source
RUN pip install --no-cache-dir --constraint /tmp/source/constraints.txt "/tmp/source[viewer,video]" \
 && rm -rf /tmp/source \
 && useradd --create-home --uid 1000 olive
USER olive
WORKDIR /home/olive
# Compiles what can be compiled, and makes the folder of runs the user's own.
RUN mkdir runs && olive-iw play breakout --max-actions 1 --no-show > /dev/null
EXPOSE 8765
ENTRYPOINT ["olive-iw"]
CMD ["--help"]
