import type { ConnectionConfig, SideDefinition } from '@penstock/wire'

/** The settings that a person makes; the service fills the others. */
export const ownSettings = (config: ConnectionConfig, side: SideDefinition | null | undefined): ConnectionConfig =>
  Object.fromEntries(
    Object.entries(config).filter(([name]) => !side?.fields.some((field) => field.name === name && field.readonly)),
  )
