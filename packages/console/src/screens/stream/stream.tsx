import { Anchor, Badge, Grid, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { type EventStream, eventStreamConnectorId, kafkaConnectorId, type StreamEvents } from '@penstock/wire'
import { useEffect, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { viewOfPage } from '../../api/view.ts'
import { Lines } from '../../components/lines.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { bytes, count } from '../../components/numbers.ts'
import { Page } from '../../components/page.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Fact, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { streams as say } from '../../strings/streams.ts'
import { beginDraft } from '../new-connection/draft.ts'
import { forgetNewKey, newKeyOf } from '../streams/new-key.ts'
import { streamsOf } from '../streams/streams.tsx'
import { ColumnsSeen } from './columns-seen.tsx'
import { Consumers } from './consumers.tsx'
import { type EventFilter, noFilter } from './event-filter.tsx'
import { NewestEvents } from './newest-events.tsx'
import { VolumeCard } from './volume-card.tsx'
import { WhereToSend } from './where-to-send.tsx'

const liveMs = 2_000
const columnsMs = 15_000
const eventsMax = 25

/** One event stream: where to send events, what it received, and the connections that read it. */
export function Component() {
  const { accountId } = useAccount()
  const { streamId = '' } = useParams()
  const stream = useRead('getStream', { accountId, id: streamId }, { againAfterMs: columnsMs, keep: true })
  const [showsValues, setShowsValues] = useState(false)
  const [filter, setFilter] = useState<EventFilter>(noFilter)
  // One request brings everything that changes while the page is visible.
  const live = useRead(
    'getStreamEvents',
    { accountId, id: streamId, query: { size: eventsMax, ...(showsValues && { view: viewOfPage }), ...filter } },
    // A search reads many events, so it is not repeated.
    { ...(filter.q === undefined && { againAfterMs: liveMs }), keep: true },
  )
  const newest = filter.q === undefined ? live.data?.reply : undefined
  // Both come together, so that nothing moves when the second one has come.
  const isReady = stream.data !== undefined && (live.data !== undefined || live.isError)
  const sendTest = useWrite('sendTestEvent')
  const testReason = useForbidden('sendTestEvent')
  const configurations = useRead('listConnectorConfigurations', streamsOf(accountId))
  const found = configurations.data?.reply.find(({ configurationId }) => configurationId === streamId)
  const { name, connectorId = eventStreamConnectorId } = found ?? {}
  const reason = useForbidden('createConnection')
  const [newKey, setNewKey] = useState(() => newKeyOf(streamId))
  useEffect(forgetNewKey, [])
  const navigate = useNavigate()
  const onTopic = stream.data?.reply.store === 'kafka'
  const connect = () => {
    if (!onTopic) beginDraft(accountId, connectorId, { configuration: streamId })
    // The cluster of a topic is another configuration, which the wizard asks for.
    const wizard = new URLSearchParams(
      onTopic ? { source: kafkaConnectorId } : { source: connectorId, step: 'destination' },
    )
    void navigate(pathOf(accountId, `connections/new?${wizard}`))
  }
  return (
    <Page
      title={name ?? say.title}
      help={
        <Group gap="sm">
          <Anchor component={Link} to={pathOf(accountId, 'streams')} size="sm">
            {say.back}
          </Anchor>
          {isReady && live.data && <State newestTime={live.data.reply.newestTime} />}
        </Group>
      }
      actions={
        <>
          <ReasonedButton
            variant="default"
            reason={undefined}
            to={pathOf(accountId, `connectors?configure=${connectorId}&configuration=${streamId}`)}
          >
            {say.settings}
          </ReasonedButton>
          <ReasonedButton
            variant="default"
            reason={testReason}
            loading={sendTest.isPending}
            disabled={stream.data?.reply.keys.length === 0}
            onClick={() =>
              void notifyOutcome(
                sendTest.mutateAsync({ accountId, id: streamId }),
                onTopic ? say.testOnTopic : say.testSent,
              )
            }
          >
            {say.sendTest}
          </ReasonedButton>
          <ReasonedButton reason={reason} onClick={connect}>
            {say.connect}
          </ReasonedButton>
        </>
      }
    >
      <Loaded query={stream} lines={8}>
        {({ reply }) =>
          !isReady ? (
            <Lines lines={8} />
          ) : (
            <Grid gap="lg" align="flex-start">
              <Grid.Col span={{ base: 12, lg: 7 }}>
                <Stack gap="lg">
                  <VolumeCard volumes={reply.volumes} store={reply.store} />
                  <NewestEvents
                    accountId={accountId}
                    query={live}
                    filter={filter}
                    onFilter={setFilter}
                    showsValues={showsValues}
                    onShowValues={setShowsValues}
                  />
                  <WhereToSend stream={reply} newKey={newKey} onNewKey={setNewKey} />
                </Stack>
              </Grid.Col>
              <Grid.Col span={{ base: 12, lg: 5 }}>
                <Stack gap="lg">
                  <Received stream={newest ?? reply} />
                  <ColumnsSeen columns={reply.columns} events={live.data?.reply.events ?? []} />
                  <Readers accountId={accountId} stream={newest ?? reply} />
                  {live.data && live.data.reply.refusals.length > 0 && <Refusals refusals={live.data.reply.refusals} />}
                </Stack>
              </Grid.Col>
            </Grid>
          )
        }
      </Loaded>
    </Page>
  )
}

function State({ newestTime }: Pick<EventStream, 'newestTime'>) {
  if (newestTime === null) {
    return (
      <Badge variant="dot" color="gray" fw={500}>
        {say.waiting}
      </Badge>
    )
  }
  return (
    <>
      <Badge variant="dot" color="teal" fw={500}>
        {say.receiving}
      </Badge>
      <Text span size="sm">
        {say.lastEvent} <Time seconds={newestTime} />
      </Text>
    </>
  )
}

/** Readers of the events: connections of this sub-account, or readers of the topic, which are not known. */
function Readers({ accountId, stream }: { accountId: string; stream: EventStream | StreamEvents }) {
  const { consumers, topic } = stream
  if (consumers !== null) return <Consumers accountId={accountId} consumers={consumers} />
  return (
    <Section title={say.onTopic} region>
      <Fact label={say.topic}>{topic ?? ''}</Fact>
      <Text size="sm" c="dimmed">
        {say.onTopicHelp}
      </Text>
    </Section>
  )
}

/** Figures that do not apply to the store of the stream are null, and not shown. */
function Received({ stream }: { stream: EventStream | StreamEvents }) {
  const { accepted, duplicates, refused, keptEvents, keptBytes, store } = stream
  return (
    <Section title={say.received} help={store === 'kafka' ? say.receivedOnTopic : say.receivedHelp} region>
      <SimpleGrid cols={{ base: 2, sm: 4, lg: 2 }}>
        <Fact label={say.accepted}>{count(accepted)}</Fact>
        {duplicates !== null && <Fact label={say.duplicates}>{count(duplicates)}</Fact>}
        <Fact label={say.refused}>{count(refused)}</Fact>
        {keptEvents !== null && (
          <Fact label={say.kept}>{say.keptHelp(say.events(keptEvents, count(keptEvents)), bytes(keptBytes ?? 0))}</Fact>
        )}
      </SimpleGrid>
    </Section>
  )
}

/** Why events were refused, the newest reason first. */
function Refusals({ refusals }: Pick<StreamEvents, 'refusals'>) {
  return (
    <Section title={say.refusals} region>
      <Stack gap="sm">
        {refusals.map(({ reason, count: events, newestTime }) => (
          <Group key={reason} justify="space-between" gap="sm">
            <Text size="sm">{say.reasons[reason]}</Text>
            <Text size="sm" c="dimmed">
              {say.events(events, count(events))} · <Time seconds={newestTime} />
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}
