import type { ConnectionConfig, ConnectorDefinition } from '@penstock/wire'
import type { ReactNode } from 'react'
import { useRead } from '../../../api/queries.ts'
import { Loaded } from '../../../components/loaded.tsx'
import { useWizard } from '../wizard.ts'
import { copiedSettings } from './copied.ts'

/** The settings with which the next connection of a set begins. */
export type Copied = {
  /** The connection that it is from. */
  readonly name: string
  readonly srcConfigurationId: string
  readonly src: ConnectionConfig
  readonly dest: ConnectionConfig
}

/** Reads the last connection of the set, whose settings the next one begins with; nothing for the first one. */
export function CopiedSettings({
  dest,
  children,
}: {
  /** The destination of the next connection. */
  dest: ConnectorDefinition
  children: (copied: Copied | undefined) => ReactNode
}) {
  const { accountId, connectionId, targets, set } = useWizard()
  const from = set === '' || connectionId !== '' ? undefined : targets.findLast((target) => target.connectionId)
  const enabled = from !== undefined
  const connection = useRead('getConnection', { accountId, id: from?.connectionId ?? '' }, { enabled })
  const definition = useRead('getConnectorDefinition', { id: from?.connectorId ?? '' }, { enabled })
  if (!from) return children(undefined)
  return (
    <Loaded query={connection} lines={6}>
      {({ reply }) => (
        <Loaded query={definition} lines={6}>
          {({ reply: before }) => {
            const { name, srcConfigurationId } = reply
            return children({ name, srcConfigurationId, ...copiedSettings(reply, before, dest) })
          }}
        </Loaded>
      )}
    </Loaded>
  )
}
