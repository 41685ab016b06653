import type { Preview } from '@penstock/wire'

type Choice = NonNullable<Preview['readings']>[number]['choices'][number]

const dates = { DMY: 'Day.month.year', MDY: 'Month/day/year', YMD: 'Year/month/day' }
const numbers = { comma: 'Decimal comma', point: 'Decimal point' }

/** The texts about numbers, dates and words of yes and no in the columns of a file. */
export const readings = {
  title: 'Numbers, dates and yes/no',
  help: 'How the texts of the source are read. Found in the first records.',
  list: 'How columns are read',
  readColumnAs: (column: string) => `Read ${column} as`,
  text: 'Text, unchanged',
  choice: ({ reading, type }: Choice): string => {
    if (reading.values) return `${Object.keys(reading.values).join('/')} → true/false`
    if (reading.dates) return `${dates[reading.dates]} → ${type === 'date' ? 'date' : 'date and time'}`
    const form = reading.numbers ? numbers[reading.numbers] : ''
    return `${form}${reading.unit ? `, ${reading.unit}` : ''} → number`
  },
  fitting: (choice: string, fits: string, of: string) => `${choice} (fits ${fits} of ${of})`,
  ambiguous: (example: string) => `${example} can be read in two ways. It stays text until you choose.`,
  contradicting: (examples: readonly string[]) =>
    `Two forms: ${examples.join(' and ')}. The column stays text until you choose; then values in the other form are rejected.`,
}
