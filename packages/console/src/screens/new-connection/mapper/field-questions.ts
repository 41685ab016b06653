import type { RecordDefinition, SideDefinition } from '@penstock/wire'

/** The fields of a destination that are questions about all records, asked before columns are matched. */
export type Questions = {
  /** Which audience people are put into: fields of its name and of its ID. */
  readonly audience:
    | {
        readonly name?: RecordDefinition
        readonly id?: RecordDefinition
        /** Whose audience it is without both; undefined: one of both is needed. */
        readonly otherwise?: 'created' | 'settings'
      }
    | undefined
  /** The action on the people. */
  readonly action: RecordDefinition | undefined
  /** The name of the event that each record is. */
  readonly event: RecordDefinition | undefined
}

const eventNames = [
  'event_name',
  'eventName',
  'EventName',
  'conversion_name',
  'eventType',
  'conversionType',
  'event_type',
]

/** @param creating the fields of which a person must say that one is created, see `creatingFields` */
export function questionsOf(
  records: readonly RecordDefinition[],
  creates?: SideDefinition['creates'],
  creating: readonly string[] = [],
): Questions {
  const byName = (name: string) => records.find((record) => record.name === name)
  const [name, id] = [byName('segment_name'), byName('segment_id')]
  return {
    audience:
      name || id
        ? {
            ...(name ? { name } : {}),
            ...(id ? { id } : {}),
            ...(creates && { otherwise: creating.length > 0 ? 'created' : 'settings' }),
          }
        : undefined,
    action: records.find(({ name, values }) => name === 'action' && values !== undefined),
    event: eventNames.map(byName).find((record) => record !== undefined),
  }
}

/** All fields of the questions. */
export const questionFields = ({ audience, action, event }: Questions): RecordDefinition[] =>
  [audience?.name, audience?.id, action, event].filter((record) => record !== undefined)
