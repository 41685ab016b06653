import { type FieldDefinition, select, text, type Values } from '@penstock/connector'
import { brokerFields, compressionField, writtenTopic } from '../kafka/fields.ts'
import { errorOfPointer } from './settings.ts'
import { keepReadField, retentionFields } from './shared-fields.ts'

/** The store of the events of a stream. */

const inKafka = { store: 'kafka' } as const

/** Whether the events of a configuration are put on a topic, and not kept. */
export const isStoredInKafka = ({ store }: Values): boolean => store === inKafka.store

/** Fields of a group, which are used only under a condition more. */
const underCondition = <F extends Readonly<Record<string, FieldDefinition>>>(
  fields: F,
  when: Readonly<Record<string, string>>,
) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [
      key,
      { ...field, keepsState: 'transport', when: { ...field.when, ...when } },
    ]),
  ) as { [Key in keyof F]: FieldDefinition }

/** The store of a stream of events, and what each store needs. */
export const storeFields = {
  store: select({
    keepsState: 'transport',
    label: 'Store events in',
    description: 'Apache Kafka takes more events than one PostgreSQL; connections then read the topic',
    options: ['postgresql', inKafka.store],
    labels: { postgresql: 'PostgreSQL', kafka: 'Apache Kafka' },
    default: 'postgresql',
  }),
  ...underCondition({ ...retentionFields(7), keepRead: keepReadField('events') }, { store: 'postgresql' }),
  ...underCondition(
    {
      ...brokerFields,
      topic: writtenTopic,
      keyAt: text({
        label: 'Message key at',
        description: 'JSON pointer to the key of a message: /userId. By default the message ID',
        max: 200,
        wrong: errorOfPointer,
      }),
      compression: compressionField,
    },
    inKafka,
  ),
}

/** Why a stream cannot be the source of a connection. `undefined` if it can. */
export const whyNotSource = ({ topic, ...settings }: Values): string | undefined =>
  isStoredInKafka(settings)
    ? `stores its events in Apache Kafka, and keeps none. Add the connector Apache Kafka as source and read the topic ${String(topic ?? '').slice(0, 249)} with it`
    : undefined
