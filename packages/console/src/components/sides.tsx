import { VisuallyHidden } from '@mantine/core'
import type { Connection } from '@penstock/wire'
import { IconAlertTriangle, IconArrowNarrowRight } from '@tabler/icons-react'
import { components } from '../strings/components.ts'
import { standing as words } from '../strings/standing.ts'
import { ConnectorName } from './connector-name.tsx'
import type { ConfigurationStanding } from './standing.ts'

/** The name of a configuration, unless nobody named it, and whether it is known not to work. */
export type SideName = { readonly name?: string; readonly standing?: ConfigurationStanding }

function Side({ connectorLogo, connectorName, name, standing, size }: Connection['src'] & SideName & { size: number }) {
  const isBad = standing === 'failed' || standing === 'missing'
  return (
    <>
      <ConnectorName logo={connectorLogo} name={name ?? connectorName} brand={connectorName} size={size} />
      {isBad && (
        <>
          <IconAlertTriangle size={14} color="var(--mantine-color-orange-filled)" aria-hidden />
          <VisuallyHidden>{words.configuration[standing]}</VisuallyHidden>
        </>
      )}
    </>
  )
}

/** Where a connection leads from, and where to. */
export function Sides({
  src,
  dest,
  names = {},
  size = 20,
  wraps = false,
  stacked = false,
}: Pick<Connection, 'src' | 'dest'> & {
  /** Names of the configurations, and how they are doing; without them, the connectors are named. */
  names?: Readonly<Partial<Record<'src' | 'dest', SideName>>>
  size?: number
  /** Uses a second line if one is too short, instead of shortening the names. */
  wraps?: boolean
  /** One below the other, each with the whole width for its name. */
  stacked?: boolean
}) {
  const arrow = (
    <>
      <IconArrowNarrowRight size={18} aria-hidden />
      <VisuallyHidden>{components.to}</VisuallyHidden>
    </>
  )
  if (stacked) {
    return (
      <>
        <div className="sides" data-from>
          <Side {...src} {...names.src} size={size} />
        </div>
        <div className="sides">
          {arrow}
          <Side {...dest} {...names.dest} size={size} />
        </div>
      </>
    )
  }
  return (
    <div className="sides" data-wraps={wraps || undefined}>
      <Side {...src} {...names.src} size={size} />
      {arrow}
      <Side {...dest} {...names.dest} size={size} />
    </div>
  )
}
