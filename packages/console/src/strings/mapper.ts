/** The texts of the mapper: which column of the source fills which field of the destination. */

const names: Readonly<Record<string, string>> = {
  email: 'E-mail',
  em: 'E-mail',
  phone: 'Phone number',
  ph: 'Phone number',
  phonenumber: 'Phone number',
  fn: 'First name',
  fname: 'First name',
  ln: 'Last name',
  lname: 'Last name',
  finitial: 'First initial',
  zip: 'Postal code',
  st: 'State',
  ct: 'City',
  dob: 'Date of birth',
  doby: 'Year of birth',
  dobm: 'Month of birth',
  dobd: 'Day of birth',
  maid: 'Mobile advertising ID',
  madid: 'Mobile advertising ID',
  idfa: 'Apple advertising ID',
  idfv: 'Apple vendor ID',
  gaid: 'Android advertising ID',
  aaid: 'Android advertising ID',
  extern_id: 'Customer ID',
  external_id: 'Customer ID',
  country_code: 'Country',
  event_time: 'Time',
  action_source: 'Where it happened',
  num_items: 'Number of items',
  segment_id: 'Audience ID',
  segment_name: 'Audience name',
}

/** The label of a field. */
function labelOf(name: string): string {
  const plain = name.replace(/_(?:sha256|md5)$/i, '')
  const known = names[plain.toLowerCase()]
  if (known) return known
  const words = plain
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[_\s]+/)
    .join(' ')
  const text = /[a-z][A-Z]/.test(plain) ? words.toLowerCase() : words
  return (text.charAt(0).toUpperCase() + text.slice(1)).replace(/\b(id|ip|url)\b/gi, (word) => word.toUpperCase())
}

const asIn = (example: string | null): string => (example === null ? '' : `, as in ${example}`)

export const mapper = {
  labelOf,
  title: 'Map fields',
  help: 'Columns that are called like a field are proposed. Nothing is sent until you start a transfer.',
  questions: 'About all records',
  audience: 'Which audience?',
  audienceOwn: 'A new audience',
  audienceName: 'By its name',
  audienceId: 'By its ID',
  audienceColumn: 'From a column',
  audienceSettings: 'From the settings',
  audienceOwnHelp: 'The first transfer creates it. Later transfers use it.',
  chooseAudience: 'Choose an audience. Nothing is created unless you choose it.',
  action: 'What happens to these people?',
  event: 'What is each record?',
  eventPlaceholder: 'Such as Purchase',
  sameForAll: 'The same for all records',
  byColumn: 'By a column',

  show: 'Show',
  all: 'All',
  need: 'Need you',
  matched: 'Matched',
  suggested: 'To choose',
  open: 'Not mapped',
  searchFields: 'Search fields and columns',
  noneFound: 'No matching fields',
  needHelp: 'The destination does not accept records without these.',
  suggestedHelp: 'Several columns may be meant, or a name has other meanings.',
  openTitle: 'Optional, not mapped',
  showOpen: 'Show',
  hideOpen: 'Hide',
  left: (n: number) => (n === 0 ? 'Nothing is left to decide' : n === 1 ? '1 left' : `${n} left`),
  needLeft: (n: number) => (n === 1 ? '1 field needs you.' : `${n} fields need you.`),

  source: (label: string) => `Source of ${label}`,
  notMapped: 'Not mapped',
  byName: 'matched by name',
  chosen: 'chosen',
  forAll: 'for all records',
  byExpression: 'made by an expression',
  leftEmpty: 'left empty',
  isRequired: 'required',
  ifEmpty: (value: string) => `if empty, ${value}`,
  answers: (n: number) => (n === 1 ? '1 value replaced' : `${n} values replaced`),
  numbers: { comma: 'decimal comma', point: 'decimal point' },
  dates: { DMY: 'day first', MDY: 'month first', YMD: 'year first' },
  values: (label: string) => `Values of ${label}, before and after`,
  becomes: 'becomes',
  notSent: 'not sent',
  emptyValue: 'empty',
  everyRecord: 'every record',
  reading: 'Reading…',

  fits: 'All values fit',
  noValues: 'No values in these records',
  rejected: (n: string, of: string) => `${n} of ${of} cannot be used`,
  missing: (n: string) => `${n} empty`,
  normalised: (n: string) => `${n} will be standardised`,
  hashed: (n: string) => `${n} hashed already`,
  twice: (n: string) => `${n} hashed twice: use the column with the original values`,
  mixed: (n: string) => `${n} of another kind`,

  required: 'Pick a column, or one value for all records.',
  pickValue: 'Pick the value for all records, or a column.',
  together: (others: string, label: string) =>
    `${others} cannot be sent without ${label}. Pick a column, or leave both empty.`,
  leaveOthers: (others: string) => `Leave ${others} empty`,
  gone: (column: string) => `The source has no column “${column}”. Pick another one.`,
  missingValue: 'Enter the value.',
  missingExpression: 'Enter the expression.',
  refused: (label: string, message: string) => `${label} ${message}${/[.?]$/.test(message) ? '' : '.'}`,
  oneOf: (labels: string) => `At least one of these is needed: ${labels}.`,
  oneOfTitle: 'Nothing identifies a person yet',
  mayBe: 'May be',
  use: (column: string, label: string) => `Use ${column} for ${label}`,

  pickTitle: (label: string) => `Columns for ${label}`,
  search: (label: string) => `Search columns for ${label}`,
  list: (label: string) => `Sources of ${label}`,
  always: (text: string) => `Always “${text}”`,
  alwaysHelp: 'One value for all records',
  expression: 'Expression…',
  expressionHelp: 'Made of columns',
  expressionOf: (label: string) => `Expression for ${label}`,
  leaveEmpty: 'Leave it empty',
  leaveTheseEmpty: 'Leave these empty',
  mayBeMeant: 'may be meant',
  typed: (column: string) => `Column ${column}`,
  typedHelp: 'The columns of the source are not known',
  found: (n: string, of: string) => `${n} of ${of} columns`,
  typeHint: 'Type to search, or to give one value',

  options: (label: string) => `Options of ${label}`,
  default: 'Value for empty cells',
  defaultHelp: 'Left out: the field stays empty.',
  numberForm: 'How numbers are written',
  dateForm: 'How dates are written',
  anyForm: 'As it can be read',
  numberForms: { comma: 'Decimal comma: 1.001,50', point: 'Decimal point: 1,001.50' },
  dateForms: { DMY: 'Day first: 31.12.2026', MDY: 'Month first: 12/31/2026', YMD: 'Year first: 2026-12-31' },
  timezone: 'Time zone of times without one',
  timezonePlaceholder: 'Europe/Berlin',
  answersTitle: 'What single values stand for',
  answersHelp: 'Upper and lower case make no difference.',
  from: 'Value in the source',
  to: 'Stands for',
  nothing: 'Nothing',
  addAnswer: 'Add a value',
  removeAnswer: (from: string) => `Remove ${from || 'the value'}`,

  answerThis: 'The destination does not accept records without this.',
  phoneHelp:
    'Numbers without a country code are only read with a country: map Country, or set the default country in the settings of the destination.',
  numbersShown: 'The values show how these numbers are written.',
  datesShown: 'The values show how these dates are written.',
  numbersAmbiguous: (example: string | null) =>
    `Say how these numbers are written. They can be read in two ways${asIn(example)}.`,
  datesAmbiguous: (example: string | null) =>
    `Say how these dates are written. They can be read in two ways${asIn(example)}.`,
  numbersContradict:
    'Some values have a decimal comma, others a decimal point. Correct them in the source, or choose one: the others are rejected.',
  datesContradict:
    'Some values have the day first, others the month. Correct them in the source, or choose one: the others are rejected or misread.',
  zoneMissing: (example: string | null) => `Say in which time zone these times are. They have none${asIn(example)}.`,
  zoneOfConnection: (zone: string, example: string | null) =>
    `Times without a zone${asIn(example)} are read in ${zone}, the time zone in the settings of the destination.`,
  takeNumbers: (form: 'comma' | 'point', example: string | null) =>
    `Use a decimal ${form}${example === null ? '' : ` (as in ${example})`}`,
  takeDates: (form: 'DMY' | 'MDY', example: string | null) =>
    `Read the ${form === 'DMY' ? 'day' : 'month'} first${example === null ? '' : ` (as in ${example})`}`,
  inZone: (zone: string) => `Time zone ${zone}`,

  unused: 'Columns not used',
  searchUnused: 'Search columns and values',
  noUnused: 'Every column is used.',
  noUnusedFound: 'No matching columns',
  useFor: (column: string) => `Use ${column} for a field`,
  fieldsFor: (column: string) => `Fields for ${column}`,

  keys: 'Keys',
  keysHelp:
    'Up and Down: field · Enter: choose a column · =: one value · D: value if empty · N: next field that needs you · /: search',
  previewFirst: (n: number) =>
    n === 1 ? 'Decide the field that needs you, then preview.' : `Decide the ${n} fields that need you, then preview.`,
}
