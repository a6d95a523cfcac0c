# A client by the document alone. usage: small-client.py DIRECTORY [FAULT…]
import json, os, sys, time
home, faults = sys.argv[1], sys.argv[2:]
parse = (lambda text: json.loads(text, parse_int=float)) if "floats" in faults else json.loads
while time.sleep(0.05) is None:
    for name in sorted(os.listdir(home)) if os.path.isdir(home) else []:
        if name.endswith("_result.json") or (not name.endswith(".json") and "any-name" not in faults): continue
        path, result = os.path.join(home, name), os.path.join(home, name[:-5] + "_result.json")
        try:
            with open(path) as file: text = file.read()
            if "keeps" not in faults: os.remove(path)
        except FileNotFoundError:
            if "runs-anyway" not in faults: continue
        try: data = parse(text)["the service"]
        except ValueError:
            if "dies" in faults: sys.exit(1)
            continue
        draft = result if "in-place" in faults else result + ".tmp"
        with open(draft, "w") as file: json.dump({"success": True, "the service": data}, file)
        if draft != result: os.rename(draft, result)
