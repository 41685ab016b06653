import { Card, Table, Text } from '@mantine/core'
import type { Reject } from '@penstock/wire'
import { count } from '../../../components/numbers.ts'
import { rejects as sayRejects } from '../../../strings/rejects.ts'
import { Shown } from './record-fields.tsx'
import { rowName } from './reject-table.tsx'
import classes from './rejects.module.css'

const say = sayRejects.correct
const shownMax = 7

/** Lists the values that are sent, next to the values that were read. */
export function Sent({
  destination,
  rows,
  column,
  value,
}: {
  destination: string
  rows: readonly Reject[]
  column: string
  /** The value that is sent for each of the rows. */
  value: string | null
}) {
  const more = rows.length - shownMax
  return (
    <Card withBorder padding={0}>
      <Table fz="sm" verticalSpacing={4} captionSide="top">
        <Table.Caption style={{ textAlign: 'start', padding: '0 0.75rem', fontWeight: 600 }}>
          {say.gets(destination)}
        </Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say.row}</Table.Th>
            <Table.Th>{say.read}</Table.Th>
            <Table.Th>{say.sent}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, shownMax).map((row) => (
            <Table.Tr key={row.number}>
              <Table.Td>{rowName(row)}</Table.Td>
              <Table.Td className={`${classes.value} ${classes.faulty}`}>
                <Shown value={row.record[column]} />
              </Table.Td>
              <Table.Td className={classes.value}>
                <Shown value={value} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {more > 0 && (
        <Text size="sm" c="dimmed" px="sm" pb="xs">
          {say.more(more, count(more))}
        </Text>
      )}
    </Card>
  )
}
