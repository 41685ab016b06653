import { Alert, Anchor, Button, Card, Group, Loader, Stack, Text, Textarea } from '@mantine/core'
import { limits } from '@penstock/wire'
import { IconUserSearch } from '@tabler/icons-react'
import { type FormEvent, useEffect, useEffectEvent, useState } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Failure } from '../../components/failure.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { notifyDone, notifyProblem } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty, Page } from '../../components/page.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { recordColumns } from '../../components/record-values.tsx'
import { DataTable } from '../../components/resource-table.tsx'
import { Time } from '../../components/time.tsx'
import { useAccountId } from '../../shell/account.ts'
import { dataSubjects as say } from '../../strings/data-subjects.ts'
import { AtDestinations } from './at-destinations.tsx'
import { Elsewhere } from './elsewhere.tsx'
import { type Search, takeHandedOver, useSearch, wrongIn } from './use-search.ts'

const { personValuesMax: valuesMax } = limits

/** Finds one person in the records that are kept, and erases them. */
export function Component() {
  const accountId = useAccountId()
  const forbidden = useForbidden('eraseDataSubject')
  const { search, failure, isBusy, find, stop, erase } = useSearch(accountId)
  const [dialog, open] = useDialog()
  const [given] = useState(takeHandedOver)
  const begin = useEffectEvent(() => given && void find(given))
  useEffect(() => begin(), [])
  const ask = (values: readonly string[]) =>
    open((close) => (
      <Confirm
        title={say.eraseTitle}
        action={say.erase}
        onConfirm={async () => {
          const { erased, active } = await erase(values)
          notifyDone(say.erased(erased, count(erased)))
          if (active > 0) notifyProblem(say.eraseTitle, say.again(count(active)))
        }}
        onClose={close}
      >
        <Stack gap="xs">
          <span>{say.eraseHelp}</span>
          <span>{say.eraseElsewhere}</span>
        </Stack>
      </Confirm>
    ))
  return (
    <Page title={say.title} help={say.help}>
      <Form given={given} isBusy={isBusy} onFind={(values) => void find(values)} />
      {failure !== undefined && <Failure error={failure} />}
      {search && (
        <Stack gap="md">
          <Group justify="space-between" mih={36}>
            <Group gap="sm" role="status">
              {isBusy && <Loader size="sm" />}
              <Text fw={600}>
                {search.isWhole
                  ? foundIn(search) > 0 && say.found(foundIn(search), count(foundIn(search)), count(search.searched))
                  : say.searching(count(search.searched))}
              </Text>
            </Group>
            <Group gap="sm">
              {isBusy && (
                <Button variant="default" onClick={stop}>
                  {say.stop}
                </Button>
              )}
              {foundIn(search) > 0 && (
                <ReasonedButton color="red" reason={forbidden} onClick={() => ask(search.values)}>
                  {say.erase}
                </ReasonedButton>
              )}
            </Group>
          </Group>
          <Results search={search} showsAccount={accountId === undefined} />
          {accountId !== undefined && forbidden === undefined && (
            <AtDestinations accountId={accountId} values={search.values} />
          )}
          {search.elsewhere && <Elsewhere accountId={accountId} of={search.elsewhere} />}
        </Stack>
      )}
      {dialog}
    </Page>
  )
}

const foundIn = ({ records, events }: Search): number => records.length + events.length

function Form({
  given = [],
  isBusy,
  onFind,
}: {
  given: readonly string[] | undefined
  isBusy: boolean
  onFind: (values: readonly string[]) => void
}) {
  const [text, setText] = useState(given.join('\n'))
  const [error, setError] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const values = text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    const wrong = wrongIn(values)
    setError(wrong)
    if (!wrong) onFind(values)
  }
  return (
    <Card withBorder padding="lg" component="form" onSubmit={submit} maw={720}>
      <Textarea
        label={say.values}
        description={say.valuesHelp(valuesMax)}
        autosize
        minRows={2}
        maxRows={10}
        autoComplete="off"
        data-1p-ignore
        value={text}
        error={error}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <Group mt="md">
        <Button type="submit" loading={isBusy} leftSection={<IconUserSearch size={18} aria-hidden />}>
          {say.find}
        </Button>
      </Group>
    </Card>
  )
}

function Results({
  search: { records, events, searched, notKept, isWhole },
  showsAccount,
}: {
  search: Search
  showsAccount: boolean
}) {
  if (records.length + events.length === 0) {
    return isWhole ? <Empty title={say.none} help={say.noneHelp(count(searched))} /> : null
  }
  return (
    <>
      {events.length > 0 && <Events events={events} showsAccount={showsAccount} />}
      {records.length > 0 && (
        <Card withBorder padding={0}>
          <DataTable
            label={say.results}
            top
            rows={records}
            keyOf={({ transferId, row }) => `${transferId} ${row}`}
            columns={[
              {
                header: say.transfer,
                w: '28%',
                wraps: true,
                cell: ({ accountId, accountName, connectionId, connectionName, transferId, row, ...times }) => (
                  <>
                    <Anchor
                      component={Link}
                      to={`/accounts/${accountId}/connections/${connectionId}/transfers/${transferId}`}
                      fw={550}
                      fz="inherit"
                    >
                      {connectionName}
                    </Anchor>
                    {showsAccount && (
                      <Text size="sm" c="dimmed">
                        {accountName}
                      </Text>
                    )}
                    <Text size="sm" c="dimmed">
                      {say.rejectedAt} <Time seconds={times.transferTime} />
                      {row !== null && ` · ${say.rowOf(count(row))}`}
                    </Text>
                    {times.deliveredTime !== null && (
                      <Text size="sm">
                        {say.deliveredAt} <Time seconds={times.deliveredTime} />
                      </Text>
                    )}
                  </>
                ),
              },
              ...recordColumns(say),
            ]}
          />
        </Card>
      )}
      {notKept > 0 && <Alert color="gray">{say.notKept(count(notKept))}</Alert>}
    </>
  )
}

/** Events of streams and outcomes of rows. */
function Events({ events, showsAccount }: { events: Search['events']; showsAccount: boolean }) {
  return (
    <Card withBorder padding={0}>
      <DataTable
        label={say.events}
        top
        rows={events}
        keyOf={({ streamId, number }) => `${streamId} ${number}`}
        columns={[
          {
            header: say.stream,
            w: '28%',
            wraps: true,
            cell: ({ accountName, streamName, number, receivedTime }) => (
              <>
                <Text fw={550} fz="inherit">
                  {streamName}
                </Text>
                {showsAccount && (
                  <Text size="sm" c="dimmed">
                    {accountName}
                  </Text>
                )}
                <Text size="sm" c="dimmed">
                  {say.receivedAt} <Time seconds={receivedTime} /> · {say.eventOf(count(number))}
                </Text>
              </>
            ),
          },
          {
            header: say.event,
            wraps: true,
            cell: ({ event }) => (
              <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                {event}
              </Text>
            ),
          },
        ]}
      />
    </Card>
  )
}
