import { Card, Table } from '@mantine/core'
import type { ReactNode } from 'react'

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

/** A list as a table on a card. */
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
  return (
    <Card withBorder padding={0}>
      <Sideways label={label}>
        <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover {...(layout && { layout })}>
          {children}
        </Table>
      </Sideways>
    </Card>
  )
}
