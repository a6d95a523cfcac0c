// Two POSTs with fetch; it keeps its connection between them if the server does.
for (let call = 0; call < 2; call++) {
  const answer = await fetch(process.argv[2], { method: 'POST', body: '{}' }).catch((error) => error);
  console.log(answer instanceof Error ? String(answer.cause) : `${answer.status} ${await answer.text()}`);
}
