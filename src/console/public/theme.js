// Before anything is drawn, so that no page in the wrong colours flashes up.
try {
  const theme = JSON.parse(localStorage.getItem('rule-server.theme'));
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // The system's colours then.
}
