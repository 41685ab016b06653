import type {
  ConnectorContext,
  DestinationContext,
  DestinationWriter,
  DiscoveredPage,
  DiscoveryContext,
  FileOffer,
  SourceContext,
  SourceReader,
  StoreScheme,
} from '@penstock/connector'
import {
  type FileSink,
  type FileStore,
  readFiles,
  readOptionsOf,
  writeFiles,
  writeOptionsOf,
} from '@penstock/connector/files'
import { discoverFileColumns } from '../discovery/columns.ts'
import { discoverSheets } from '../discovery/sheets.ts'
import { addressIn, discoverObjects } from './discover.ts'
import { fileStoreOf, type ObjectStore } from './object-store.ts'
import { offerFiles } from './offer.ts'
import { contentTypeOf, objectNameOf } from './place.ts'

/** Reads the files that the settings name, or finds out what they contain. */
export type FileReading = {
  open(context: SourceContext): Promise<SourceReader>
  /** The columns of the files. */
  discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage>
  /** The sheets of the workbook, or the tables of the database. */
  discoverWorkbook(context: DiscoveryContext): Promise<DiscoveredPage>
}

/** @param storeOf the files that the settings of a context name. It throws a `ConnectorError` if the settings are not valid. */
export const fileReading = (storeOf: (context: ConnectorContext) => FileStore | Promise<FileStore>): FileReading => ({
  async open(context) {
    const options = readOptionsOf(context.settings)
    return readFiles(context, await storeOf(context), options)
  },
  async discoverColumns(context) {
    const options = readOptionsOf(context.settings)
    return discoverFileColumns(context, await storeOf(context), options)
  },
  discoverWorkbook: async (context) => discoverSheets(context, await storeOf(context)),
})

/** The objects and the path that an address names. */
export type FilePlace = {
  readonly objects: ObjectStore
  /** The name of an object, the beginning of names, or nothing. */
  readonly path: string
  /** The bucket in the state of a connection, in which it is distinct from others. */
  readonly bucket?: string
  /** The value of the setting for an object. */
  addressOf(name: string): string
}

/** The object that a transfer writes. */
export type FileTarget = {
  readonly name: string
  /** A name that no other transfer uses. */
  readonly ownName: string
  readonly contentType: string
  readonly transferId: string
  readonly startedTime: string
}

/** The facts of a store of objects. */
export type FileStoreFacts<Place extends FilePlace> = {
  /** The setting that names what is read, and its label in messages. */
  readonly reads: { readonly setting: string; readonly label: string }
  /** How an address begins, such as `s3://`. Text that someone types without it searches below the address that is set. */
  readonly scheme: string
  /**
   * Opens the place that an address names. Throws `invalid_address`.
   * @param label what messages call the setting
   */
  client(context: ConnectorContext, address: unknown, label: string): Place
  /** Opens the object that a transfer writes. */
  sink(place: Place, target: FileTarget, context: DestinationContext): FileSink
}

/** The work of the connectors of a store of objects. */
export type ObjectFiles = FileReading & {
  /** Opens the object that a transfer writes. */
  write(context: DestinationContext): Promise<DestinationWriter>
  /**
   * Folders and objects whose addresses begin with the search, or with the setting.
   * @param setting the setting with an address
   * @param foldersOnly for a place to write to
   */
  discover(context: DiscoveryContext, setting: string, foldersOnly?: boolean): Promise<DiscoveredPage>
  /** Offers the files to a destination that loads them itself. */
  offer(context: ConnectorContext, scheme: StoreScheme): Promise<FileOffer | { readonly whyNot: string }>
}

export function fileStore<Place extends FilePlace>({
  reads,
  scheme,
  client,
  sink,
}: FileStoreFacts<Place>): ObjectFiles {
  const readPlace = (context: ConnectorContext) => client(context, context.settings[reads.setting], reads.label)
  return {
    ...fileReading((context) => {
      const { objects, path, bucket } = readPlace(context)
      const store = fileStoreOf(objects, path, readOptionsOf(context.settings).format)
      return bucket === undefined ? store : { ...store, id: bucket }
    }),

    async write(context) {
      const { settings, transferId, startedTime } = context
      const place = client(context, settings.outputPath, 'The output path')
      const options = writeOptionsOf(settings)
      return writeFiles(
        context,
        (extension) => {
          const name = objectNameOf(place.path, context, extension, context.test)
          const ownName = objectNameOf(place.path, context, extension, true)
          const contentType = contentTypeOf(extension)
          return sink(place, { name, ownName, contentType, transferId, startedTime }, context)
        },
        { ...options, gzip: options.gzip || settings.gzipOutput === true },
      )
    },

    async discover(context, setting, foldersOnly = false) {
      const { objects, path, addressOf } = client(context, addressIn(context, setting, scheme), 'The address')
      return discoverObjects(context, objects, path, addressOf, foldersOnly)
    },

    async offer(context, storeScheme) {
      const options = readOptionsOf(context.settings)
      if (options.onlyNew) return { whyNot: 'only new and changed files are read' }
      const { objects, path, bucket = '' } = readPlace(context)
      return offerFiles(objects, { scheme: storeScheme, bucket, path }, options, context.signal)
    },
  }
}
