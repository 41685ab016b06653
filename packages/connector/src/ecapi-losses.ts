import {
  type Ecapi,
  type EcapiColumn,
  type EcapiField,
  ecapiEventTypes,
  ecapiFieldOf,
  ecapiFormOf,
  ecapiSources,
} from './ecapi.ts'
import type { RecordField, Records } from './records.ts'

/** The losses of events in ECAPI's form at a destination, in sentences for users. */

/** Whether the platform hashes a value as ECAPI does, or takes any identifier. */
export function takesEcapiDigest(field: EcapiField, { hashed = [], normalise }: RecordField): boolean {
  if (field === 'user_data.customer_identifier') return true
  return hashed.includes('sha256') && normalise !== 'phone-digits'
}

/** Forms of e-mail addresses of which the platform's digests differ from ECAPI's only for some addresses. */
const changesSomeAddresses = (normalise: RecordField['normalise']): boolean => normalise?.startsWith('email-') === true

/** The sentence for a field that a destination does not have. */
export const notAccepted = (name: string): string => `${name} does not accept it.`

/**
 * The loss of a field at a destination; `undefined` if it gets all of it.
 * @param name the name of the destination
 * @param cell the value of the field as an expression
 */
export function ecapiLossOf(
  name: string,
  { columns, losses = {} }: Ecapi,
  records: Records,
  field: EcapiField,
  cell: string = `row[${JSON.stringify(field)}]`,
): string | undefined {
  const filled = Object.entries(columns).filter(([, how]) => ecapiFieldOf(how) === field)
  const said = losses[field]
  if (field === 'event_type')
    return (
      said ??
      lossOfTypes(
        name,
        filled.map(([, how]) => how),
      )
    )
  if (field === 'custom_event') {
    const isSent = Object.values(columns).some(
      (how) =>
        how === 'custom_event' ||
        (typeof how !== 'string' && how.from === 'event_type' && !('fixed' in how) && how.others === undefined),
    )
    const hasTypes = Object.values(columns).some((how) => ecapiFieldOf(how) === 'event_type')
    return isSent || !hasTypes ? undefined : (said ?? notAccepted(name))
  }
  if (said !== undefined) return said
  const [column, how] = filled[0] ?? []
  if (column === undefined || how === undefined) return lossOfUnsent(name, field, cell)
  if (field === 'source' && typeof how !== 'string' && !('fixed' in how)) return lossOfSources(how.values, how.others)
  const record = records[column]
  if (!ecapiFormOf(field).digest || !record || field === 'user_data.gender') return undefined
  if (!takesEcapiDigest(field, record)) {
    return record.normalise === 'phone-digits'
      ? `${name} hashes phone numbers without “+”. Hashed values are not sent; map plain numbers instead.`
      : `${name} accepts it only if it is not hashed. Hashed values are not sent.`
  }
  return field === 'user_data.email_address' && changesSomeAddresses(record.normalise)
    ? `${name} changes addresses before it hashes them, such as dots or a tag. Hashes of these addresses do not match; plain addresses do.`
    : undefined
}

function lossOfTypes(name: string, filling: readonly EcapiColumn[]): string | undefined {
  if (filling.includes('event_type')) return undefined
  const translated = filling.flatMap((how) =>
    typeof how !== 'string' && how.from === 'event_type' && !('fixed' in how) ? [how] : [],
  )
  if (translated.length === 0) {
    return `${name} gets no type: every row counts as the conversion that the connection names. Filter the rows by type.`
  }
  // A column with the names of ECAPI keeps every type.
  if (translated.some(({ values, others }) => others === undefined && Object.keys(values).length === 0))
    return undefined
  const [{ values, others } = { values: {}, others: undefined }] = translated
  const unnamed = ecapiEventTypes.filter((type) => type !== 'custom' && !Object.hasOwn(values, type)).join(', ')
  return others === undefined
    ? `${name} has no event for these types. They arrive as custom events under their own names: ${unnamed}.`
    : `${name} has no event for these types. They arrive as “${others}”: ${unnamed}.`
}

function lossOfSources(
  values: Readonly<Record<string, string>>,
  others: string | null | undefined,
): string | undefined {
  const unnamed = ecapiSources.filter((source) => !Object.hasOwn(values, source)).join(', ')
  if (unnamed === '') return undefined
  if (others === undefined) return `Rows with these places are rejected: ${unnamed}.`
  return others === null
    ? `These places arrive without a place: ${unnamed}.`
    : `These places arrive as “${others}”: ${unnamed}.`
}

/** Fields that most destinations do not get, and the remedy. */
function lossOfUnsent(name: string, field: EcapiField, cell: string): string {
  switch (field) {
    case 'data_set_id':
      return 'The connection decides where events go. If the source has several data sets, filter the rows by it.'
    case 'id':
      return `${name} does not recognise repeated events by their ID.`
    case 'user_data.mmt_only':
      return `${name} cannot limit an event to measurement. Filter the rows: !bool(${cell}).`
    case 'user_data.gpp_string':
      return 'It is not sent. Name the column in a purpose, so that rows without consent are not sent.'
    case 'user_data.gpp_sid':
      return 'It is not sent. The GPP string contains its sections.'
    default:
      return notAccepted(name)
  }
}
