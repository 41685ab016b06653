import { ActionIcon, Anchor, Box, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { placeInWords, type Reject } from '@penstock/wire'
import { IconArrowRight, IconChevronDown, IconChevronRight, IconPencil } from '@tabler/icons-react'
import { Fragment, type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { count } from '../../../components/numbers.ts'
import { components } from '../../../strings/components.ts'
import { rejects as say } from '../../../strings/rejects.ts'
import { type FieldOfRecord, faultyColumns, reasonsOf, shapeOf } from './groups.ts'
import { RecordFields, Shown } from './record-fields.tsx'
import classes from './rejects.module.css'
import { StateBadge } from './state-badge.tsx'
import { useRowKeys } from './use-row-keys.ts'

const columns = 6

/**
 * Rejected rows with their state; the whole record is behind a disclosure.
 * @param onCorrect opens the correction of a row; undefined if rows cannot be corrected here
 */
export function RejectTable({
  rejects,
  columnOf,
  pathOf,
  onCorrect,
}: {
  rejects: readonly Reject[]
  columnOf: (fault: FieldOfRecord) => string | undefined
  /** The page of a transfer. */
  pathOf: (transferId: string) => string
  onCorrect: ((reject: Reject) => void) | undefined
}) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  useRowKeys((number) => {
    const reject = rejects.find((one) => one.number === number)
    if (reject?.editable) onCorrect?.(reject)
  })
  const toggle = (number: number) =>
    setOpened((now) =>
      now.has(number) ? new Set([...now].filter((one) => one !== number)) : new Set([...now, number]),
    )
  return (
    <Table.ScrollContainer minWidth={300} type="native" tabIndex={0} role="region" aria-label={say.title}>
      <Table fz="sm" horizontalSpacing="md" verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say.row}</Table.Th>
            <Table.Th visibleFrom="sm" w={150}>
              {say.field}
            </Table.Th>
            <Table.Th visibleFrom="sm" w={150}>
              {say.value}
            </Table.Th>
            <Table.Th visibleFrom="sm">{say.reason}</Table.Th>
            <Table.Th w={160} visibleFrom="sm">
              {say.state}
            </Table.Th>
            <Table.Th w={52}>
              <VisuallyHidden>{components.actions}</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rejects.map((reject) => {
            const { number, state } = reject
            const isOpen = opened.has(number)
            const column = columnOf(reject)
            const faulty = faultyColumns(reject, columnOf)
            const field = faulty.length > 0 ? <Lines texts={faulty} /> : (reject.field ?? say.wholeRow)
            const value =
              faulty.length > 1 ? (
                faulty.map((name) => (
                  <div key={name}>
                    <WrongValue reject={reject} column={name} />
                  </div>
                ))
              ) : (
                <WrongValue reject={reject} column={column} />
              )
            const result = <Result reject={reject} reasons={reasonsOf(reject, columnOf)} pathOf={pathOf} />
            return (
              <Fragment key={number}>
                <Table.Tr className={classes.row}>
                  <Table.Td>
                    <UnstyledButton
                      className={classes.open}
                      fz="inherit"
                      aria-expanded={isOpen}
                      data-reject-row={number}
                      title={reject.place ? placeInWords(reject.place) : undefined}
                      onClick={() => toggle(number)}
                    >
                      {isOpen ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
                      {rowName(reject)}
                    </UnstyledButton>
                    <Box hiddenFrom="sm" mt={4}>
                      <StateBadge state={state} />
                      <Box className={classes.value} mt={4}>
                        {field}
                      </Box>
                      <div>{value}</div>
                      <div>{result}</div>
                    </Box>
                  </Table.Td>
                  <Table.Td visibleFrom="sm" className={classes.value}>
                    {field}
                  </Table.Td>
                  <Table.Td visibleFrom="sm">{value}</Table.Td>
                  <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
                    {result}
                  </Table.Td>
                  <Table.Td visibleFrom="sm">
                    <StateBadge state={state} />
                  </Table.Td>
                  <Table.Td ta="right">
                    {onCorrect && reject.editable && (
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        aria-label={say.correctRow(rowInWords(reject))}
                        title={say.correctRow(rowInWords(reject))}
                        onClick={() => onCorrect(reject)}
                      >
                        <IconPencil size={16} aria-hidden />
                      </ActionIcon>
                    )}
                  </Table.Td>
                </Table.Tr>
                {isOpen && (
                  <Table.Tr>
                    <Table.Td colSpan={columns} pt={0}>
                      <section aria-label={say.record(rowInWords(reject))}>
                        <RecordFields reject={reject} faulty={faulty} />
                      </section>
                    </Table.Td>
                  </Table.Tr>
                )}
              </Fragment>
            )
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

type NamedRow = Pick<Reject, 'row' | 'place' | 'count'>

/**
 * The place of a row in its file, without folders; its number in another source; how many rows an entry stands for, if their
 * numbers are not known.
 */
export function rowName({ row, place, count: n }: NamedRow): string {
  if (row === null) return say.unknownRow(count(n))
  return place ? placeInWords({ ...place, file: place.file.split('/').at(-1) || place.file }) : count(row)
}

/** The same within a sentence. */
export const rowInWords = (named: NamedRow): string =>
  named.row === null || named.place ? rowName(named) : say.rowOf(rowName(named))

/** One text a line. */
const Lines = ({ texts }: { texts: readonly string[] }) => texts.map((text) => <div key={text}>{text}</div>)

/** The wrong value, and its correction. */
function WrongValue({ reject, column }: { reject: Reject; column: string | undefined }): ReactNode {
  const { record, edited } = reject
  const shape = shapeOf(reject)
  const read = column === undefined ? undefined : record[column]
  const now = column === undefined || !edited ? read : edited[column]
  const wrong = shape ? say.shortShape(shape.has, shape.needs) : column === undefined ? '' : <Shown value={read} />
  return (
    <span className={classes.value}>
      <span className={classes.faulty}>{wrong}</span>
      {now !== read && (
        <>
          {' '}
          <IconArrowRight size={12} aria-label={say.becomes} /> <Shown value={now} />
        </>
      )}
    </span>
  )
}

/** Why the row was rejected, or what became of it since. */
function Result({
  reject,
  reasons,
  pathOf,
}: {
  reject: Reject
  reasons: readonly string[]
  pathOf: (id: string) => string
}) {
  const { state, reason, resent } = reject
  const results: Partial<Record<Reject['state'], string>> = say.results
  return (
    <>
      {state === 'expired' && `${reason} `}
      {results[state] ?? <Lines texts={reasons} />}
      {resent && (
        <>
          {' '}
          <Anchor component={Link} to={pathOf(resent.transferId)} fz="inherit" underline="always">
            {say.resentIn}
          </Anchor>
        </>
      )}
    </>
  )
}

/** The keys of the table. */
export const tableKeys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['J', 'K'], say.keys.move],
  [['Enter'], say.keys.open],
  [['C'], say.keys.correct],
]

export function KeyHints({ children }: { children: ReactNode }) {
  return (
    <Text component="div" size="xs" c="dimmed" visibleFrom="md">
      {children}
    </Text>
  )
}
