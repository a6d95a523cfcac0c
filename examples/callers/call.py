# pip install urllib3; python3 call.py http://127.0.0.1:8080 9001
import decimal, json, sys, urllib3, uuid

body = json.dumps({"app": int(sys.argv[2]), "ruleId": 1, "the service": {"uid": 9007199254740993}})
headers = {"content-type": "application/json", "idempotency-key": str(uuid.uuid4())}
# The same key again: it runs at most once, and what has ended is not run again.
again = urllib3.Retry(4, allowed_methods=None, status_forcelist=[503, 504], backoff_factor=1, raise_on_status=False)
url = f"{sys.argv[1]}/rule-server/mock/execute"
try:
    response = urllib3.request("POST", url, body=body, headers=headers, retries=again)
except urllib3.exceptions.HTTPError as nothing_answered:
    sys.exit(f"{nothing_answered} mayHaveRun: True")
answer = json.loads(response.data, parse_float=decimal.Decimal)
if "mayHaveRun" in answer:
    sys.exit(f"{answer['error']} mayHaveRun: {answer['mayHaveRun']}")
print(answer["outcome"], answer["the service"]["uid"])
