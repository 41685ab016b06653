import type { ConnectorDefinition } from '@penstock/wire'
import type { ReactNode } from 'react'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import type { SideKey } from './settings.ts'

export type Definitions = Readonly<Record<SideKey, ConnectorDefinition>>

/** Reads the definitions of the connectors of both sides, which a step needs before it can show anything. */
export function BothDefinitions({
  src,
  dest,
  children,
}: {
  /** The identifier of the connector that is the source. */
  src: string
  dest: string
  children: (definitions: Definitions) => ReactNode
}) {
  const source = useRead('getConnectorDefinition', { id: src })
  const destination = useRead('getConnectorDefinition', { id: dest })
  return (
    <Loaded query={source} lines={6}>
      {({ reply }) => (
        <Loaded query={destination} lines={6}>
          {(other) => children({ src: reply, dest: other.reply })}
        </Loaded>
      )}
    </Loaded>
  )
}
