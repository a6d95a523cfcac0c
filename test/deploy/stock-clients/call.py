"""Two POSTs with http.client on one connection; it connects again when the server has closed it."""

import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

url = urlsplit(sys.argv[1])
connection = HTTPConnection(url.netloc)
for _ in range(2):
    try:
        connection.request("POST", url.path, "{}", {"content-type": "application/json"})
        answer = connection.getresponse()
        print(answer.status, answer.read().decode())
    except OSError as error:
        print(error)
