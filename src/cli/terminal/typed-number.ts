/** A number of the command line as JSON, digit by digit; anything else as text: the service says what is wrong with it. */
export function typedNumber(text: string): string {
  return /^\d+$/.test(text) ? text.replace(/^0+(?=\d)/, '') : JSON.stringify(text);
}
