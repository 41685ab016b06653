import { Anchor, Box, Card, type MantineBreakpoint, Table, type TableProps, VisuallyHidden } from '@mantine/core'
import type { Links } from '@penstock/client'
import type { UseQueryResult } from '@tanstack/react-query'
import { type MouseEvent, memo, type ReactNode } from 'react'
import { Link, useNavigate } from 'react-router'
import { components } from '../strings/components.ts'
import { Loaded, useOutdated } from './loaded.tsx'
import { Pager } from './pager.tsx'
import { type Orders, SortedHead } from './sorted-head.tsx'

export type Column<Row> = {
  header?: ReactNode
  /** The heading sorts the list, by the address. */
  orders?: Orders | undefined
  cell: (row: Row) => ReactNode
  /** In a last row, below the table. */
  footer?: ReactNode
  /** The width of the window from which it is shown. */
  from?: MantineBreakpoint
  /** In narrower windows, the first column that is always shown has this below its own content; `true`: the cell. */
  folded?: true | ((row: Row) => ReactNode)
  w?: number | string
  right?: boolean
  /** Breaks long words. */
  wraps?: boolean
  nowrap?: boolean
  mono?: boolean
  /** Its cells name their rows. */
  names?: boolean
}

type Rows<Row> = {
  columns: readonly (Column<Row> | false)[]
  /** Identifies a row that holds state. Default: its `id`, else its place. */
  keyOf?: (row: Row) => string | number
  /** Where a click on a row leads. For the mouse alone: the keyboard and screen readers have a link in the row. */
  to?: ((row: Row) => string) | undefined
  /** Buttons or the menu of a row. */
  actions?: ((row: Row) => ReactNode) | false | undefined
  actionsW?: number | string
}

type Looks = Pick<TableProps, 'layout' | 'fz' | 'verticalSpacing' | 'horizontalSpacing' | 'withRowBorders'> &
  Pick<TableProps, 'highlightOnHover' | 'stickyHeader' | 'withTableBorder' | 'className'> & {
    /** Names the part of the page that scrolls if the window is too narrow, by the keyboard too. Undefined: nothing scrolls. */
    label?: string
    minWidth?: number
    maxHeight?: number
    /** Cells begin at the top of their row. */
    top?: boolean
  }

/** Rows as a table. */
export function DataTable<Row>({
  rows,
  columns,
  keyOf,
  to,
  actions = false,
  actionsW = 56,
  label,
  minWidth = 320,
  maxHeight,
  top = false,
  ...looks
}: Rows<Row> & Looks & { rows: readonly Row[] }) {
  const shown = shownOf(columns)
  const table = (
    <Table {...looks}>
      {shown.some(({ header }) => header !== undefined) && (
        <Table.Thead>
          <Table.Tr>
            {shown.map((column) =>
              column.orders ? (
                <SortedHead key={column.key} {...looksOf(column)} w={column.w} orders={column.orders}>
                  {column.header}
                </SortedHead>
              ) : (
                <Table.Th key={column.key} {...looksOf(column)} w={column.w}>
                  {column.header}
                </Table.Th>
              ),
            )}
            {actions && (
              <Table.Th w={actionsW}>
                <VisuallyHidden>{components.actions}</VisuallyHidden>
              </Table.Th>
            )}
          </Table.Tr>
        </Table.Thead>
      )}
      <Table.Tbody>
        {rows.map((row, at) => (
          <Line
            key={keyOf?.(row) ?? (row as { id?: string }).id ?? at}
            row={row}
            columns={columns}
            to={to}
            actions={actions}
            top={top}
          />
        ))}
      </Table.Tbody>
      {shown.some(({ footer }) => footer !== undefined) && (
        <Table.Tfoot style={{ borderTop: '2px solid var(--mantine-color-default-border)' }}>
          <Table.Tr fw={650}>
            {shown.map((column) => {
              const Cell = column.names ? Table.Th : Table.Td
              return (
                <Cell key={column.key} {...looksOf(column)} {...(column.names && { scope: 'row' })}>
                  {column.footer}
                </Cell>
              )
            })}
          </Table.Tr>
        </Table.Tfoot>
      )}
    </Table>
  )
  if (label === undefined) return table
  const frame = { minWidth, tabIndex: 0, role: 'region', 'aria-label': label, ...(maxHeight && { maxHeight }) }
  return (
    <Table.ScrollContainer type="native" {...frame}>
      {table}
    </Table.ScrollContainer>
  )
}

/** Columns have no name but their place. */
const shownOf = <Row,>(columns: Rows<Row>['columns']) =>
  columns.flatMap((column, key) => (column ? [{ ...column, key }] : []))

function looksOf({ from, right, wraps, nowrap }: Column<never>) {
  return {
    ...(from && { visibleFrom: from }),
    ...(right && { ta: 'right' as const }),
    style: { ...(wraps && { overflowWrap: 'anywhere' as const }), ...(nowrap && { whiteSpace: 'nowrap' as const }) },
  }
}

/** The same for the cells of rows, which are plain elements: a list has hundreds, and these are drawn sooner. */
function plainLooksOf({ from, right, wraps, nowrap, mono, names, w }: Column<never>) {
  return {
    className: `${names ? Table.Th.classes.th : Table.Td.classes.td}${from ? ` mantine-visible-from-${from}` : ''}`,
    style: {
      ...(right && { textAlign: 'right' as const }),
      ...(wraps && { overflowWrap: 'anywhere' as const }),
      ...(nowrap && { whiteSpace: 'nowrap' as const }),
      ...(mono && { fontFamily: 'var(--mantine-font-family-monospace)' }),
      ...(names && { fontWeight: 500, width: w }),
    },
  }
}

type LineProps<Row> = Pick<Rows<Row>, 'columns' | 'to' | 'actions'> & { row: Row; top: boolean }

/** Stays as it is while the page around it changes, if its columns do. */
const Line = memo(function Line<Row>({ row, columns, to, actions, top }: LineProps<Row>) {
  const navigate = useNavigate()
  const open = (event: MouseEvent) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('a, button, input, label') !== null
    if (to && !isElsewhere && window.getSelection()?.isCollapsed !== false) navigate(to(row))
  }
  const shown = shownOf(columns)
  const first = shown.find(({ from }) => from === undefined)
  return (
    <Table.Tr
      {...(to && { onClick: open })}
      style={{ ...(to && { cursor: 'pointer' }), ...(top && { verticalAlign: 'top' }) }}
    >
      {shown.map((column) => {
        const Cell = column.names ? 'th' : 'td'
        return (
          <Cell key={column.key} {...plainLooksOf(column)} {...(column.names && { scope: 'row' })}>
            {column.cell(row)}
            {column === first &&
              shown.map(
                ({ key, from, folded, cell }) =>
                  folded && (
                    <Box key={key} {...(from && { hiddenFrom: from })} mt={6} fz="sm">
                      {(folded === true ? cell : folded)(row)}
                    </Box>
                  ),
              )}
          </Cell>
        )
      })}
      {actions && <Table.Td ta="right">{actions(row)}</Table.Td>}
    </Table.Tr>
  )
}) as <Row>(props: LineProps<Row>) => ReactNode

/** Resources that the service lists page by page, on a card, and the way to the other pages; `empty` if there are none. */
export function ResourceTable<Row>({
  query,
  lines = 6,
  quiet = false,
  empty,
  ...table
}: Rows<Row> &
  Looks & {
    label: string
    query: UseQueryResult<{ readonly reply: readonly Row[]; readonly total: number; readonly links?: Links }, Error>
    /** How many lines the skeleton has. */
    lines?: number
    /** Another part of the page says that the list could not be read again. */
    quiet?: boolean
    empty: ReactNode
  }) {
  return (
    <Loaded query={query} lines={lines} quiet={quiet}>
      {({ reply, total, links }) =>
        total === 0 ? (
          empty
        ) : (
          <>
            <Replaced>
              <DataTable rows={reply} verticalSpacing="sm" horizontalSpacing="md" highlightOnHover {...table} />
            </Replaced>
            <Pager total={total} isMore={links !== undefined && links.last === undefined} />
          </>
        )
      }
    </Loaded>
  )
}

/** A card; what is about to be replaced is dimmed, and cannot be acted on. */
function Replaced({ children }: { children: ReactNode }) {
  const outdated = useOutdated()
  return (
    <Card withBorder padding={0} inert={outdated} aria-busy={outdated} opacity={outdated ? 0.55 : 1}>
      {children}
    </Card>
  )
}

/** The name of a row, which leads to what it names. */
export function NameLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} fw={550} fz="inherit" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Anchor>
  )
}
