import {
  type Connector,
  type ConnectorContext,
  defineConnector,
  type SourceSide,
  secret,
  text,
} from '@penstock/connector'
import { fileBatch } from '@penstock/connector/files/definition'
import { access } from '../amazon-s3/access.ts'
import type { FilePreset, PresetSource } from './preset-facts.ts'

/** Keys of the bucket, for presets. */
export const bucketKeys = {
  accessKeyId: text({
    keepsState: 'credential',
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

/**
 * Creates a connector from the facts. Throws immediately, as a programmer's error, if facts break a rule of `defineConnector`.
 */
export function filePreset(preset: FilePreset): Connector {
  const { source, destination, secrets, ...definition } = preset
  const run = () => import('./run/preset-files.ts')
  const s3 = () => import('../amazon-s3/files.ts')
  return defineConnector({
    ...definition,
    secrets: { ...bucketKeys, ...secrets },
    check: async (context) => (await import('../amazon-s3/check.ts')).checkEither(context),
    ...(source && { source: presetSource(source) }),
    ...(destination && {
      destination: {
        fields: {
          outputPath: text({
            asked: true,
            label: 'Output path',
            description: 's3:// address of the bucket and folder where the platform collects the files',
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

/**
 * The side of a connector that reads files of a preset, also for connectors whose destination is not a preset.
 * @param keysOf the bucket keys in a context, if its secrets do not have them under the names of {@link bucketKeys}
 */
export function presetSource(
  source: PresetSource,
  keysOf: <Context extends ConnectorContext>(context: Context) => Context = (context) => context,
): SourceSide {
  return {
    fields: {
      bucketUri: text({
        label: 'Bucket URI',
        description: 's3:// address of the bucket and folder where the files arrive',
        required: true,
      }),
      ...source.fields,
      startAfter: text({
        label: 'Start after',
        description:
          'Only for the first transfer: the s3:// address of the file after which reading starts. By default all files are read',
      }),
    },
    ...(source.records && { records: source.records }),
    open: async (context) => (await import('./run/preset-files.ts')).openPreset(source, keysOf(context)),
    discover: {
      bucketUri: async (context) =>
        (await import('../amazon-s3/files.ts')).discover(keysOf(context), 'bucketUri', true),
    },
  }
}
