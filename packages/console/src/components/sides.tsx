import { VisuallyHidden } from '@mantine/core'
import type { Connection } from '@penstock/wire'
import { IconArrowNarrowRight } from '@tabler/icons-react'
import { components } from '../strings/components.ts'
import { ConnectorName } from './connector-name.tsx'

/** Where a connection leads from, and where to. */
export function Sides({
  src,
  dest,
  size = 20,
  wraps = false,
}: Pick<Connection, 'src' | 'dest'> & {
  size?: number
  /** Uses a second line if one is too short, instead of shortening the names. */
  wraps?: boolean
}) {
  return (
    <div className="sides" data-wraps={wraps || undefined}>
      <ConnectorName logo={src.connectorLogo} name={src.connectorName} size={size} />
      <IconArrowNarrowRight size={18} aria-hidden />
      <VisuallyHidden>{components.to}</VisuallyHidden>
      <ConnectorName logo={dest.connectorLogo} name={dest.connectorName} size={size} />
    </div>
  )
}
