import { Card, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { useOutdated } from './loaded.tsx'

/** What is wider than a narrow window: it scrolls sideways, by the keyboard too. @param minWidth in pixels */
export function Sideways({
  label,
  minWidth = 320,
  children,
}: {
  label: string
  minWidth?: number
  children: ReactNode
}) {
  return (
    <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="region" aria-label={label}>
      {children}
    </Table.ScrollContainer>
  )
}

/** A list as a table on a card; what is about to be replaced is dimmed, and cannot be acted on. */
export function ListTable({
  label,
  layout,
  children,
}: {
  label: string
  /** Fixed: columns are as wide as their heads say, whatever is in them. */
  layout?: 'fixed'
  children: ReactNode
}) {
  const outdated = useOutdated()
  return (
    <Card withBorder padding={0} inert={outdated} aria-busy={outdated} opacity={outdated ? 0.55 : 1}>
      <Sideways label={label}>
        <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover {...(layout && { layout })}>
          {children}
        </Table>
      </Sideways>
    </Card>
  )
}
