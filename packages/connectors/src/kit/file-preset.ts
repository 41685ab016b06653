import {
  type Connector,
  type ConnectorDefinition,
  defineConnector,
  type Fields,
  type Records,
  secret,
  text,
  type Values,
} from '@penstock/connector'
import { fileBatch } from '@penstock/connector/files/definition'
import { access } from '../amazon-s3/access.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import type { Read } from '../platform-api/rows/events.ts'

/**
 * A connector that is a preset over Amazon S3: the layout that a platform documents, so that a user gives only the keys and the place.
 * The reading and writing of objects, checkpoints, parts, the check and the discovery are those of the connectors of Amazon S3.
 */
export type FilePreset = Omit<ConnectorDefinition, 'source' | 'destination' | 'check' | 'actions'> & {
  readonly source?: PresetSource
  readonly destination?: PresetDestination
}

/** Files that a platform leaves in a bucket. */
export type PresetSource = {
  /** Settings beside the place, and where reading begins. */
  readonly fields?: Fields
  /** What is known of the columns. */
  readonly records?: Records
  /** The character between two cells, and the names of the columns, which the files do not have. May throw `invalid_setting`. */
  readonly layout: (settings: Values) => PresetLayout
  /** Which names are data, without their folders. */
  readonly names: RegExp
  /**
   * A text by which a later file comes after an earlier one, of the name with its folders. The next transfer begins after the last
   * text that was read.
   */
  readonly order: (name: string) => string
}

/** `shortRows`: whether a row may end before its last cells. */
export type PresetLayout = {
  readonly delimiter: string
  readonly columns: readonly string[]
  readonly shortRows?: boolean
}

/** Files that a platform takes from a bucket: text, a line for each row. */
export type PresetDestination = {
  /** Settings beside the place. */
  readonly fields: Fields
  readonly records: Records
  /** The name of the file below the place. @param startedMs when the transfer began, in milliseconds since 1970 */
  readonly name: (settings: Values, startedMs: number) => string
  /** The line of a row without its end, or why it can have none. Throws `invalid_setting` for settings that contradict each other. */
  readonly line: (row: BatchRow, settings: Values) => Read<string>
  /** Whether files are compressed with gzip. */
  readonly gzip: boolean
}

/** Keys of the bucket, for presets. */
const keys = {
  accessKeyId: text({
    label: 'Access key ID',
    description: 'ID of the access key for the bucket, from AWS or from the platform',
    required: true,
  }),
  secretAccessKey: secret({
    label: 'Secret access key',
    description: 'Secret that belongs to this access key',
    required: true,
  }),
  ...access,
}

/** Makes a connector of the facts. Fails at once, as a programmer's error, on facts that break a rule of `defineConnector`. */
export function filePreset(preset: FilePreset): Connector {
  const { source, destination, secrets, ...definition } = preset
  const run = () => import('./run/preset-files.ts')
  const s3 = () => import('../amazon-s3/discover.ts')
  return defineConnector({
    ...definition,
    secrets: { ...keys, ...secrets },
    check: async (context) => (await import('../amazon-s3/check.ts')).checkEither(context),
    ...(source && {
      source: {
        fields: {
          bucketUri: text({
            label: 'Bucket URI',
            description: 'Where the files arrive: the s3:// address of the bucket and the folder',
            required: true,
          }),
          ...source.fields,
          startAfter: text({
            label: 'Start after',
            description:
              'Only for the first transfer: the s3:// address of a file, after which reading begins; all files if it is empty',
          }),
        },
        ...(source.records && { records: source.records }),
        open: async (context) => (await run()).openPreset(source, context),
        discover: { bucketUri: async (context) => (await s3()).discover(context, 'bucketUri', true) },
      },
    }),
    ...(destination && {
      destination: {
        fields: {
          outputPath: text({
            label: 'Output path',
            description: 'Where the platform collects files: the s3:// address of the bucket and the folder',
            required: true,
          }),
          ...destination.fields,
        },
        records: destination.records,
        deliver: {
          batch: fileBatch,
          open: async (context) => (await run()).writePreset(destination, context),
          rejectionsOf: async ({ settings }) => (await run()).rejectionsOf(destination, settings),
          inspect: async (context) => (await import('../amazon-s3/check.ts')).inspect(context),
        },
        discover: { outputPath: async (context) => (await s3()).discover(context, 'outputPath', true) },
      },
    }),
  })
}
