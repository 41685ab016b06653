import type { ConnectionConfig, SideDefinition } from '@penstock/wire'

/** Write modes that add every row to what is there, whether it is there already or not. */
const addingModes: readonly unknown[] = ['Insert', 'Append']
const syncMode = 'syncMode'
const writeMode = 'writeMode'
const incremental = 'Incremental'

export type Repeats = {
  /** How the destination writes. */
  readonly mode: string
  /** Alternative modes. */
  readonly otherModes: readonly string[]
  /** Whether the source can read only what is new. */
  readonly canReadNew: boolean
}

type Side = { readonly definition: SideDefinition | null | undefined; readonly config: ConnectionConfig }

/** Whether every transfer would add all rows once more: the source is read in full, and the destination adds each row. */
export function repeatsOf(source: Side, destination: Side): Repeats | undefined {
  const mode = effective(destination, writeMode)
  if (!addingModes.includes(mode) || effective(source, syncMode) === incremental) return undefined
  if (effective(destination, 'sendRows') === 'Changed') return undefined
  return {
    mode: String(mode),
    otherModes: optionsOf(destination, writeMode).filter((other) => !addingModes.includes(other)),
    canReadNew: optionsOf(source, syncMode).includes(incremental),
  }
}

const fieldOf = ({ definition }: Side, name: string) => definition?.fields.find((field) => field.name === name)
const optionsOf = (side: Side, name: string): readonly string[] => fieldOf(side, name)?.options ?? []

/** The value that counts: the one that is set, else the default. */
const effective = (side: Side, name: string): unknown => side.config[name] ?? fieldOf(side, name)?.default
