# python3 call.py http://127.0.0.1:8080 9001
import json, sys, time, urllib.error, urllib.request, uuid
from decimal import Decimal

url, app = sys.argv[1], int(sys.argv[2])
body = json.dumps({"app": app, "ruleId": 1, "the service": {"uid": 9007199254740993}}).encode()
headers = {"content-type": "application/json", "idempotency-key": str(uuid.uuid4())}
for pause in (1, 2, 4, 8, 0):
    again = None
    try:
        text = urllib.request.urlopen(urllib.request.Request(f"{url}/rule-server/mock/execute", body, headers)).read()
    except urllib.error.HTTPError as refused:
        text, again = refused.read(), refused.headers.get("retry-after")
    except OSError:
        text, again = b'{"error": "Nothing answered.", "mayHaveRun": true}', pause
    if again is None or pause == 0:
        break
    time.sleep(float(again))  # then the same key again: it runs at most once
answer = json.loads(text, parse_float=Decimal)
if "mayHaveRun" in answer:
    sys.exit(f"{answer['error']} mayHaveRun: {answer['mayHaveRun']}")
print(answer["outcome"], answer["the service"]["uid"])
