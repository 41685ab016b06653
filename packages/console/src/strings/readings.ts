import type { Preview } from '@penstock/wire'

type Choice = NonNullable<Preview['readings']>[number]['choices'][number]

const dates = { DMY: 'Day.month.year', MDY: 'Month/day/year', YMD: 'Year/month/day' }
const numbers = { comma: 'Decimal comma', point: 'Decimal point' }

const types: Readonly<Record<string, { readonly one: string; readonly many: string }>> = {
  bigint: { one: 'whole number', many: 'whole numbers' },
  numeric: { one: 'number', many: 'numbers' },
  boolean: { one: 'true/false', many: 'true or false' },
  date: { one: 'date', many: 'dates' },
  timestamp: { one: 'date and time', many: 'dates with a time' },
  timestamptz: { one: 'date and time', many: 'dates with a time' },
}
const typeOf = (type: string) => types[type] ?? { one: type, many: type }

/** How a choice reads values; empty if it takes them as they are. */
function formOf({ reading }: Choice): string {
  if (reading.values) return Object.keys(reading.values).join('/')
  if (reading.dates) return dates[reading.dates]
  const form = reading.numbers ? numbers[reading.numbers] : ''
  return `${form}${reading.unit ? `, ${reading.unit}` : ''}`
}

export type Sampled = { readonly counted: string; readonly whole: boolean } | undefined

/** The rows from which types follow, and the consequence for later rows. */
export const foundIn = (sampled: Sampled): string =>
  sampled?.whole
    ? `Found in all ${sampled.counted} rows.`
    : `Found in the first ${sampled ? `${sampled.counted} rows` : 'rows'}. Later values that do not fit are rejected.`

/** The texts about numbers, dates and words of yes and no in the columns of a file. */
export const readings = {
  title: 'Numbers, dates and yes/no',
  help: (sampled: Sampled) => `How the values of the source are read. ${foundIn(sampled)}`,
  list: 'How columns are read',
  readColumnAs: (column: string) => `Read ${column} as`,
  text: 'Text, unchanged',
  keepText: 'Keep as text',
  choice: (choice: Choice): string => [formOf(choice), typeOf(choice.type).one].filter(Boolean).join(' → '),
  offer: (
    choice: Choice,
    { creates, rejected, counted }: { creates: boolean; rejected: number; counted: string },
  ): string => {
    const form = formOf(choice)
    const as = `${creates ? 'Create' : 'Read'} as ${typeOf(choice.type).one}${form ? ` (${form.charAt(0).toLowerCase()}${form.slice(1)})` : ''}`
    return rejected === 0 ? as : `${as}: ${rejected} of ${counted} values will be rejected`
  },
  mostly: (choice: Choice, fits: string, of: string) =>
    `${fits} of ${of} values look like ${typeOf(choice.type).many} (${choice.before}).`,
  others: (values: readonly string[]) => `Others: ${values.join(' · ')}`,
  ambiguous: (example: string) => `${example} can be read in two ways.`,
  contradicting: (examples: readonly string[]) => `Two forms: ${examples.join(' and ')}.`,
  left: (n: number) =>
    n === 1 ? '1 column stays text until you choose its type.' : `${n} columns stay text until you choose their types.`,
}
