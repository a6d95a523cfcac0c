/** Whether an `Accept-Encoding` header accepts an encoding, by name or `*`, with a weight above 0 (RFC 9110). */
export function accepts(header: string | undefined, encoding: string): boolean {
  const offers = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((offer) => offer.split(';').map((part) => part.trim()));
  const offer = offers.find(([name]) => name === encoding) ?? offers.find(([name]) => name === '*');
  return offer !== undefined && !offer.slice(1).some((weight) => /^q=0(\.0*)?$/.test(weight));
}
