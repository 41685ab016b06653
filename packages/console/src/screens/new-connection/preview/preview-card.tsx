import { Alert, Badge, Button, Group, List, Stack, Text, Title } from '@mantine/core'
import type { ResultOf } from '@penstock/client'
import { limits, type Preview, wouldFail } from '@penstock/wire'
import { IconInfoCircle, IconRefresh } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Findings } from '../../../components/findings.tsx'
import { Loaded } from '../../../components/loaded.tsx'
import { count } from '../../../components/numbers.ts'
import { DataTable } from '../../../components/resource-table.tsx'
import { Section } from '../../../components/section.tsx'
import { useFirst } from '../../../components/use-first.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { Lint } from './lint.tsx'
import classes from './preview.module.css'

const rejectedShown = 20

/** Real records of the source as they would be sent, what would be rejected, and what the values are like. */
export function PreviewCard({
  query,
  waits,
  stale,
  blocked,
  hasLint,
  onLook,
  test,
}: {
  query: UseQueryResult<ResultOf<'previewConnection'>, Error>
  /** Why there is no preview yet. */
  waits?: string | undefined
  /** The mapping was changed since. */
  stale: boolean
  /** The mapping has errors and cannot be previewed. */
  blocked: boolean
  /** The statistics of the values are shown here, and not beside the fields. */
  hasLint: boolean
  onLook: () => void
  /** Sends some of the records as a test. */
  test: ReactNode
}) {
  const actions = (
    <Group gap="sm">
      {test}
      <Button
        variant={stale ? 'filled' : 'default'}
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={query.isFetching}
        disabled={blocked}
        onClick={onLook}
      >
        {stale ? say.look : say.lookAgain}
      </Button>
    </Group>
  )
  return (
    <Section title={say.preview} help={say.previewHelp(limits.previewRowsMax)} action={actions} region>
      {stale && (
        <Text size="sm" c="dimmed" role="status">
          {say.stale}
        </Text>
      )}
      {waits !== undefined ? (
        <Text size="sm">{waits}</Text>
      ) : (
        <Loaded query={query} lines={5}>
          {({ reply }) => (
            <>
              <Findings findings={reply.findings} />
              <Looked preview={hasLint ? reply : { ...reply, lint: [] }} />
            </>
          )}
        </Loaded>
      )}
    </Section>
  )
}

function Looked({
  preview: { columns, rows, filtered, duplicates, noConsent, controlGroup, rejected, lint, findings },
}: {
  preview: Preview
}) {
  const { shown, more } = useFirst(rejected, rejectedShown)
  const fails = findings.some(({ code }) => wouldFail(code))
  if (rows.length === 0 && rejected.length === 0 && filtered + noConsent + controlGroup === 0) {
    return (
      <Alert color="gray" icon={<IconInfoCircle aria-hidden />} title={say.noRecords}>
        {say.noRecordsHelp}
      </Alert>
    )
  }
  return (
    <Stack gap="lg">
      <Group gap="xs">
        {fails ? (
          <Badge variant="dot" color="red" fw={500}>
            {say.nothingWouldBeSent(count(rows.length))}
          </Badge>
        ) : (
          <Badge variant="dot" color={rows.length > 0 ? 'teal' : 'gray'} fw={500}>
            {say.wouldBeSent(count(rows.length))}
          </Badge>
        )}
        {rejected.length > 0 && (
          <Badge variant="dot" color="red" fw={500}>
            {say.wouldBeRejected(count(rejected.length))}
          </Badge>
        )}
        {[
          [filtered, say.wouldBeFiltered] as const,
          [duplicates, say.wouldBeDuplicates] as const,
          [noConsent, say.wouldLackConsent] as const,
          [controlGroup, say.wouldBeControl] as const,
        ].map(
          ([n, words]) =>
            n > 0 && (
              <Badge key={words('')} variant="dot" color="gray" fw={500}>
                {words(count(n))}
              </Badge>
            ),
        )}
      </Group>
      {rows.length > 0 && <Rows columns={columns} rows={rows} />}
      {rejected.length > 0 && (
        <Stack gap="xs">
          <Title order={3} size="h5">
            {say.rejected}
          </Title>
          <List size="sm" spacing={4}>
            {shown.map(({ row, reason, otherFaults = [] }) => (
              <List.Item key={row} style={{ overflowWrap: 'anywhere' }}>
                {say.rejectedRow(count(row), [reason, ...otherFaults.map((fault) => fault.reason)].join(' '))}
              </List.Item>
            ))}
          </List>
          {more}
        </Stack>
      )}
      {lint.length > 0 && <Lint lint={lint} />}
    </Stack>
  )
}

function Rows({ columns, rows }: Pick<Preview, 'columns' | 'rows'>) {
  return (
    <DataTable
      label={say.mappedRecords}
      minWidth={0}
      maxHeight={320}
      fz="sm"
      verticalSpacing={6}
      stickyHeader
      withTableBorder
      className={classes.table ?? ''}
      rows={rows}
      columns={columns.map((column, at) => ({
        header: (
          <Text span inherit ff="monospace" fw={600} title={column}>
            {column}
          </Text>
        ),
        cell: (row: Preview['rows'][number]) => {
          const value = row[at]
          return value ? (
            <span title={value}>{value}</span>
          ) : (
            <Text span inherit c="dimmed">
              {value === '' ? say.emptyText : say.nothing}
            </Text>
          )
        },
      }))}
    />
  )
}
