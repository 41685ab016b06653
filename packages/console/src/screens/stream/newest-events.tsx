import { Anchor, Badge, Box, Button, Code, Group, Stack, Text, UnstyledButton } from '@mantine/core'
import type { StreamEvent, StreamEvents } from '@penstock/wire'
import { IconChevronDown, IconChevronRight, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { Loaded } from '../../components/loaded.tsx'
import { bytes, count } from '../../components/numbers.ts'
import { Fact, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf } from '../../shell/account.ts'
import { streams as say } from '../../strings/streams.ts'
import { type EventFilter, FilterEvents } from './event-filter.tsx'
import { type Fate, fatesOf } from './fate.ts'

/** The newest events of a stream and what became of each, while the page is open. */
export function NewestEvents({
  accountId,
  query,
  filter,
  onFilter,
  showsValues,
  onShowValues,
}: {
  accountId: string
  query: UseQueryResult<{ reply: StreamEvents }, Error>
  filter: EventFilter
  onFilter: (filter: EventFilter) => void
  showsValues: boolean
  onShowValues: (shows: boolean) => void
}) {
  const [paused, setPaused] = useState<StreamEvents>()
  const live = query.data?.reply
  const mayShow = useForbidden('previewConnection') === undefined
  const shown = paused ?? live
  const change = (next: EventFilter) => {
    setPaused(undefined)
    onFilter(next)
  }
  const newer = paused && live ? live.accepted - paused.accepted : 0
  return (
    <Section
      title={say.newest}
      region
      note={
        <Badge variant="dot" color={paused ? 'gray' : 'teal'} fw={500} component="span">
          {paused ? say.paused(newer, count(newer)) : say.live}
        </Badge>
      }
      help={helpOf(shown, mayShow)}
      action={
        <Group gap="xs">
          {mayShow && (
            <Button variant="default" size="xs" onClick={() => onShowValues(!showsValues)}>
              {showsValues ? say.hideValues : say.showValues}
            </Button>
          )}
          <Button
            variant="default"
            size="xs"
            leftSection={paused ? <IconPlayerPlay size={16} aria-hidden /> : <IconPlayerPause size={16} aria-hidden />}
            disabled={!live}
            onClick={() => setPaused(paused ? undefined : live)}
          >
            {paused ? say.goOn : say.pause}
          </Button>
        </Group>
      }
    >
      <FilterEvents filter={filter} mayShow={showsValues} onFilter={change} />
      <Loaded query={query} lines={6}>
        {({ reply }) => (
          <>
            <Events accountId={accountId} of={paused ?? reply} filter={filter} />
            {reply.searched !== null && reply.events.length > 0 && (
              <Text size="sm" c="dimmed">
                {say.foundIn(count(reply.searched))}
              </Text>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

function helpOf(shown: StreamEvents | undefined, mayShow: boolean): string | undefined {
  if (!shown || shown.events.length === 0) return undefined
  if (shown.store === 'kafka') return say.onTopicNotShown
  return shown.masked ? say.masked(mayShow) : say.whole
}

function Events({
  accountId,
  of: { events, consumers, searched, store },
  filter,
}: {
  accountId: string
  of: StreamEvents
  filter: EventFilter
}) {
  if (events.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {searched !== null
          ? say.noneFound(count(searched))
          : filter.outcome === undefined
            ? store === 'kafka'
              ? say.noneRefused
              : say.noEvents
            : say.noneOfOutcome}
      </Text>
    )
  }
  const seen = new Map<string, number>()
  return (
    <Stack component="ul" gap={0} p={0} m={0} style={{ listStyle: 'none' }}>
      {events.map((event) => {
        const name = event.outcome === 'stored' ? `${event.number}` : `${event.outcome} ${event.reason} ${event.time}`
        const place = (seen.get(name) ?? 0) + 1
        seen.set(name, place)
        return (
          <Event key={`${name} ${place}`} accountId={accountId} event={event} fates={fatesOf(event, consumers ?? [])} />
        )
      })}
    </Stack>
  )
}

function Event({ accountId, event, fates }: { accountId: string; event: StreamEvent; fates: readonly Fate[] }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { time, name, type, events, test } = event
  const title = name ?? type ?? (event.outcome === 'refused' ? say.requestRefused : say.unnamed)
  return (
    <Box component="li" style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <UnstyledButton w="100%" py="xs" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          {isOpen ? <IconChevronDown size={18} aria-hidden /> : <IconChevronRight size={18} aria-hidden />}
          <Box miw={0} style={{ flex: 1, overflowWrap: 'anywhere' }}>
            <Group gap="xs">
              <Text span size="sm" fw={500}>
                {title}
              </Text>
              {events > 1 && (
                <Text span size="sm" c="dimmed">
                  {say.events(events, count(events))}
                </Text>
              )}
              {test && (
                <Badge size="sm" variant="light" component="span">
                  {say.test}
                </Badge>
              )}
            </Group>
            <Outcome event={event} fates={fates} />
          </Box>
          <Text span size="sm" c="dimmed">
            <Time seconds={time} />
          </Text>
        </Group>
      </UnstyledButton>
      <Box id={id} hidden={!isOpen}>
        {isOpen && <Details accountId={accountId} event={event} fates={fates} />}
      </Box>
    </Box>
  )
}

function Outcome({ event: { outcome, reason }, fates }: { event: StreamEvent; fates: readonly Fate[] }) {
  if (outcome === 'refused') {
    return (
      <Text span size="sm" c="var(--mantine-color-error)">
        {reason ? say.reasons[reason] : say.refused}
      </Text>
    )
  }
  const waiting = fates.filter(({ state }) => state === 'waiting').length
  const delivered = fates.filter(({ state }) => state === 'delivered').length
  return (
    <Text span size="sm" c="dimmed">
      {outcome === 'repeated' ? say.repeated : say.fate({ waiting, delivered, all: fates.length })}
    </Text>
  )
}

function Details({ accountId, event, fates }: { accountId: string; event: StreamEvent; fates: readonly Fate[] }) {
  const { number, messageId, value, outcome } = event
  return (
    <Stack gap="sm" pb="sm" pl={26}>
      <Group gap="xl">
        {number !== null && <Fact label={outcome === 'repeated' ? say.repeats : say.number}>{count(number)}</Fact>}
        {messageId !== null && <Fact label={say.messageId}>{messageId}</Fact>}
        {event.bytes !== null && <Fact label={say.size}>{bytes(event.bytes)}</Fact>}
      </Group>
      {outcome === 'stored' &&
        fates.map(({ consumer: { connectionId, name }, state, transferId }) => (
          <Group key={connectionId} gap="xs">
            <Anchor component={Link} size="sm" to={pathOf(accountId, `connections/${connectionId}`)}>
              {name}
            </Anchor>
            {transferId === undefined ? (
              <Text span size="sm" c="dimmed">
                {state === 'waiting' ? say.waits : say.passed}
              </Text>
            ) : (
              <Anchor
                component={Link}
                size="sm"
                to={pathOf(accountId, `connections/${connectionId}/transfers/${transferId}`)}
              >
                {say.deliveredBy}
              </Anchor>
            )}
          </Group>
        ))}
      {value !== null && (
        <Code
          block
          tabIndex={0}
          role="region"
          aria-label={say.eventAsJson}
          style={{ overflow: 'auto', maxHeight: 320 }}
        >
          {indented(value)}
        </Code>
      )}
      {value === null && (
        <Text size="sm" c="dimmed">
          {outcome === 'stored' ? say.erased : say.noValues}
        </Text>
      )}
    </Stack>
  )
}

/** Numbers keep their digits, which `JSON.parse` would lose: only line breaks and spaces are added. */
function indented(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    // It was cut.
    return text
  }
  let depth = 0
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (part) => {
    const line = () => `\n${'  '.repeat(depth)}`
    switch (part) {
      case '{':
      case '[':
        depth++
        return part + line()
      case '}':
      case ']':
        depth--
        return line() + part
      case ',':
        return part + line()
      case ':':
        return ': '
      default:
        return part
    }
  })
}
