import type { Destination } from './destination.ts'
import { type FieldDefinition, type Fields, number, select, text } from './fields.ts'
import type { Records } from './records.ts'

type MappedSide = {
  readonly deliver?: Destination
  readonly fields?: Fields
  readonly records?: Records
}

/** A destination that can receive data also has the settings for the mapping and the stages of the engine. */
export function withMapping<S extends MappedSide>(side: S): S {
  if (!side.deliver) return side
  const times = Object.values(side.records ?? {}).some(({ reads }) => reads === 'time')
  const phones = Object.values(side.records ?? {}).some(({ normalise }) => normalise?.startsWith('phone-'))
  return {
    ...side,
    fields: {
      ...side.fields,
      mapping: text({
        keepsState: 'onward',
        label: 'Mapping',
        description: side.records
          ? 'Source column for each field, if the names differ: {"email": "E-mail address"}'
          : 'Columns to send, with new names: {"new name": "source column"}. By default all',
      }),
      filter: text({
        label: 'Filter',
        description: 'Condition for records to send, such as row.country == "DE" && bool(row.consent)',
      }),
      purposes: text({
        keepsState: 'onward',
        label: 'Required consent',
        description:
          'Consent purposes, separated by commas, that a record needs to be sent; none to send all records. Needed once the sub-account has purposes',
      }),
      controlGroup: select({
        label: 'Control group',
        description: 'People who are held back, so that you can compare their outcomes. By default none',
        options: ['None', 'LeaveOut', 'Only'],
        labels: { None: 'No control group', LeaveOut: 'Hold it back', Only: 'Send only the control group' },
      }),
      controlKey: text({
        label: 'Control group key',
        description: 'Source columns that identify a person, separated by commas: customer_id',
        required: true,
        when: hasControlGroup,
      }),
      controlPercent: number({
        label: 'Control group share',
        description: 'Percent of all people. A greater share only adds people',
        required: true,
        min: 0,
        max: 50,
        when: hasControlGroup,
      }),
      controlSalt: text({
        label: 'Control group salt',
        description: 'Any text. Another salt chooses other people',
        max: 100,
        when: hasControlGroup,
      }),
      sendRows: rowsToSend(side.deliver, !side.fields?.writeMode),
      rowKey: text({
        keepsState: 'onward',
        label: 'Row key',
        description:
          'Columns that identify a row, separated by commas, or * for all. Not needed if key columns are set',
        when: { sendRows: 'Changed' },
      }),
      duplicates: select({
        keepsState: 'onward',
        label: 'Duplicate records',
        description: 'Which record to send if several have the same key. By default all',
        options: ['All', 'First', 'Last', 'Greatest', 'Least'],
        labels: {
          All: 'Send all',
          First: 'Send the first',
          Last: 'Send the last',
          Greatest: 'Send the one with the greatest value',
          Least: 'Send the one with the least value',
        },
      }),
      duplicateKey: text({
        keepsState: 'onward',
        label: 'Key of duplicates',
        description: 'Destination columns, separated by commas, or * for all. By default the key columns',
        when: { duplicates: ['First', 'Last', 'Greatest', 'Least'] },
      }),
      duplicateColumn: text({
        keepsState: 'onward',
        label: 'Deciding column',
        description: 'Source column whose greatest or least value decides which record is sent',
        when: { duplicates: ['Greatest', 'Least'] },
      }),
      outcomes: text({
        keepsState: 'onward',
        label: 'Record outcomes in',
        description: 'Configuration of the connector Outcomes, by its name, that records what became of each row',
      }),
      outcomeColumns: text({
        keepsState: 'onward',
        label: 'Columns in outcomes',
        description: 'Source columns that identify a row in its outcome, separated by commas: id, email',
      }),
      outcomeRows: select({
        keepsState: 'onward',
        label: 'Rows with outcomes',
        description: 'All rows, or only rows that were sent to the destination. By default all',
        options: ['All', 'Sent'],
        labels: { All: 'All rows', Sent: 'Only sent rows' },
      }),
      ...(phones
        ? {
            defaultCountry: text({
              keepsState: 'onward',
              label: 'Default country',
              description: 'Country of phone numbers without a country code, as a two-letter code: DE',
            }),
          }
        : {}),
      ...(times
        ? {
            defaultTimezone: text({
              keepsState: 'onward',
              label: 'Default time zone',
              description: 'Time zone of times without one, such as Europe/Berlin',
            }),
          }
        : {}),
    },
  }
}

const hasControlGroup = { controlGroup: ['LeaveOut', 'Only'] }

/** Only a destination that removes rows can be a mirror of the source. */
const rowsToSend = ({ removesBy }: Destination, isOnlyMode: boolean): FieldDefinition => {
  const changed = 'All rows, or only new and changed rows'
  const labels = { All: 'All rows', Changed: 'New and changed rows' }
  if (!removesBy) {
    return select({
      purpose: 'sent',
      keepsState: 'onward',
      label: 'Rows to send',
      description: `${changed}. By default all`,
      options: ['All', 'Changed'],
      labels,
      meanings: { Changed: 'changed' },
    })
  }
  return select({
    ...(isOnlyMode && { asked: true as const }),
    purpose: 'sent',
    keepsState: 'onward',
    label: 'Rows to send',
    description: `${changed}. A mirror also removes rows deleted from the source`,
    options: ['All', 'Changed', 'Mirror'],
    labels: { ...labels, Mirror: 'Mirror: new and changed rows, and removals' },
    meanings: { Changed: 'changed', Mirror: 'mirror' },
  })
}
