import {
  type Connector,
  type ConnectorDefinition,
  type DestinationSide,
  defineConnector,
  type Fields,
  type Platform,
  type Records,
  type Side,
  type Values,
} from '@penstock/connector'

/**
 * A definition in the form in which it is stored in a file. The service works with it, and never loads the code of a connector
 * that an operator added. A function of the code becomes the fact that it exists, or its result.
 */
export type WrittenDefinition = Omit<ConnectorDefinition, 'source' | 'destination' | 'check' | 'authorization'> & {
  readonly checks: boolean
  readonly source?: WrittenSide & { readonly opens: boolean; readonly columnsByReading?: boolean }
  readonly destination?: WrittenSide & Pick<DestinationSide, 'creates'> & { readonly delivers?: WrittenDelivery }
}

type WrittenSide = { readonly fields: Fields; readonly records?: Records; readonly discovers: readonly string[] }

type WrittenDelivery = {
  readonly rowsMax: number
  readonly bytesMax: number
  readonly inspects: boolean
  readonly replaces: WrittenChoice
  /** Whether it removes rows. Missing in definitions that an earlier version wrote. */
  readonly removes?: boolean
}

/** An answer that is always the same, or is yes if a choice of the connection has one of some values. */
type WrittenChoice = boolean | { readonly field: string; readonly values: readonly (string | boolean)[] }

/**
 * Writes down a definition.
 * @throws Error with a sentence if the service would need its code
 */
export function writeDefinition(connector: Connector): WrittenDefinition {
  const { slug, source, destination, check, authorization } = connector
  if (authorization) throw new Error(`${slug}: only connectors of the catalogue can be authorized with a click`)
  if (connector.readsRejects) throw new Error(`${slug}: only connectors of the catalogue read rejected records`)
  if (connector.readsEvents) throw new Error(`${slug}: only connectors of the catalogue receive events`)
  if (connector.readsUploads) throw new Error(`${slug}: only connectors of the catalogue read uploaded files`)
  const { name, platform, dataType, dataTypeCategory, description, status, withdrawn, actions, notes, api } = connector
  const facts = {
    slug,
    name,
    platform,
    dataType,
    dataTypeCategory,
    description,
    status,
    withdrawn,
    actions,
    notes,
    api,
  }
  const { columnsByReading } = source ?? {}
  return {
    ...facts,
    secrets: connector.secrets,
    checks: check !== undefined,
    source: source && { ...writeSide(source), opens: source.open !== undefined, columnsByReading },
    destination: destination && {
      ...writeSide(destination),
      creates: destination.creates,
      delivers: destination.deliver && {
        ...destination.deliver.batch(defaultsOf(destination.fields)),
        inspects: destination.deliver.inspect !== undefined,
        removes: destination.deliver.removesBy !== undefined,
        replaces: choiceOf(slug, destination.fields, destination.deliver.replaces),
      },
    },
  } as WrittenDefinition
}

const writeSide = ({ fields = {}, records, discover = {} }: Side): WrittenSide => ({
  fields,
  ...(records ? { records } : {}),
  discovers: Object.keys(discover),
})

const defaultsOf = (fields: Fields = {}): Values =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) => (field.default === undefined ? [] : [[key, field.default]])),
  )

/** Evaluates each value of each choice, with the defaults of the other choices. */
function choiceOf(
  slug: string,
  fields: Fields = {},
  replaces: (settings: Values) => boolean = () => false,
): WrittenChoice {
  const defaults = defaultsOf(fields)
  const usual = replaces(defaults)
  const deciding = Object.entries(fields).flatMap(([field, { type, options = [] }]) => {
    const values = type === 'Boolean' ? [false, true] : type === 'Select' ? options : []
    const yes = values.filter((value) => replaces({ ...defaults, [field]: value }))
    return yes.length === (usual ? values.length : 0) ? [] : [{ field, values: yes }]
  })
  const [first, second] = deciding
  if (second) throw new Error(`${slug}: whether it replaces everything must follow from one choice of the connection`)
  return first ?? usual
}

const elsewhere = async (): Promise<never> => {
  throw new Error('The code of a connector runs in runners')
}

/**
 * The connector of a stored definition. It only has the functions that the service needs.
 * @param platforms the platforms of the catalogue, which replace the same platforms in the definition
 * @throws Error with a sentence if the definition breaks a rule of this version
 */
export function readDefinition(written: WrittenDefinition, platforms: readonly Platform[]): Connector {
  const { source, destination, checks, platform, ...facts } = written
  const known = platforms.find(({ slug }) => slug === platform.slug)
  const { icon: _, ...own } = platform
  return defineConnector({
    ...facts,
    // Only platforms of the catalogue have an icon. Others have a monogram.
    platform: known ?? own,
    ...(checks ? { check: elsewhere } : {}),
    ...(source && { source: readSource(source) }),
    ...(destination && { destination: readDestination(destination) }),
  })
}

const readSide = ({ fields, records, discovers }: WrittenSide) => ({
  fields,
  ...(records ? { records } : {}),
  ...(discovers.length > 0 ? { discover: Object.fromEntries(discovers.map((key) => [key, elsewhere])) } : {}),
})

const readSource = ({ opens, columnsByReading, ...side }: NonNullable<WrittenDefinition['source']>) => ({
  ...readSide(side),
  ...(opens ? { open: elsewhere } : {}),
  ...(columnsByReading === undefined ? {} : { columnsByReading }),
})

function readDestination({ delivers, creates, ...written }: NonNullable<WrittenDefinition['destination']>) {
  const side = { ...readSide(written), ...(creates && { creates }) }
  if (!delivers) return side
  const { rowsMax, bytesMax, inspects, replaces, removes } = delivers
  const decides = (settings: Values) =>
    typeof replaces === 'boolean' ? replaces : replaces.values.includes(settings[replaces.field] as string | boolean)
  return {
    ...side,
    deliver: {
      batch: () => ({ rowsMax, bytesMax }),
      open: elsewhere,
      replaces: decides,
      ...(inspects ? { inspect: elsewhere } : {}),
      // Whether it does with the settings of a connection is asked in the runner.
      ...(removes ? { removesBy: () => undefined } : {}),
    },
  }
}
