import { Code } from '@mantine/core'

/** A text whose parts between backticks are code. */
export function WithCode({ text }: { text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity.
  return text.split('`').map((part, at) => (at % 2 === 1 ? <Code key={at}>{part}</Code> : part))
}
