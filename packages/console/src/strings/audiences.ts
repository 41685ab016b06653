/** The texts about the audiences that a connection feeds. */
export const audiences = {
  title: 'Audience',
  help: 'As the platform says. It is asked once a day.',
  none: 'The platform is asked an hour after the first transfer.',
  noneFound: 'The platform has no audience of this connection.',
  problem: 'The platform could not be asked',
  asked: 'Asked',
  size: 'Size',
  matched: 'Matched',
  people: (n: string) => `${n} people`,
  range: (low: string, high: string) => `${low} to ${high} people`,
  unknownSize: 'Size not known yet',
  matchedOf: (matched: string, received: string, share: string) => `${matched} of ${received} matched (${share})`,
  onlyMatched: (matched: string) => `${matched} matched`,
  onlyReceived: (received: string) => `${received} received`,
  chart: (name: string) => `Size of ${name} by day`,
}
