import { ActionIcon, Alert, Button, CloseButton, Group, Skeleton, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { PenstockError } from '@penstock/client'
import { type ConnectionConfig, type DiscoveredKind, type Discovery as Found, limits } from '@penstock/wire'
import {
  IconAlertTriangle,
  IconBox,
  IconBuilding,
  IconCheck,
  IconChevronRight,
  IconColumns3,
  IconCornerLeftUp,
  IconEye,
  IconFile,
  IconFolder,
  IconKey,
  IconRefresh,
  IconSearch,
  IconStack2,
  IconTable,
  IconUsers,
} from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useDiscovered } from '../../api/queries.ts'
import { components } from '../../strings/components.ts'
import { discovery as say } from '../../strings/discovery.ts'
import { describe } from '../describe.ts'
import { useListKeys } from '../list-keys.ts'
import { Time } from '../time.tsx'
import { type Discovery, folderAbove, folderOf, nameOf, namesIn } from './discovery.ts'
import type { FormField } from './form-field.ts'
import classes from './picker.module.css'

const waitMs = 250
const skeletonRows = 6

/** `Escape` in it closes the list, and not the drawer around it. */
const inList = { 'data-mantine-stop-propagation': true }

type Item = Pick<Found['items'][number], 'value' | 'label'>

/** The values that a platform has for a setting, searched by the service: to pick one, or several. */
export function DiscoveredList({
  discovery: { accountId, connectorId, configurationId, role },
  settings,
  field,
  value,
  several,
  onPick,
  onEnter,
  onType,
}: {
  discovery: Discovery
  settings: ConnectionConfig
  field: FormField
  value: string
  /** The value is a list of names. */
  several: boolean
  onPick: (item: Item) => void
  /** The user takes the text of the search, whether it is in the list or not. */
  onEnter: (text: string) => void
  /** The user prefers to enter a name. */
  onType: () => void
}) {
  const search = useRef<HTMLInputElement>(null)
  // A picked file is found again in its folder.
  const [text, setText] = useState(() => (several ? '' : folderOf(value)))
  const [q, setQ] = useState(text)
  const ask = useDebouncedCallback(setQ, waitMs)
  // The list stays while names of it are picked.
  const [asked] = useState(settings)
  const body = { field: field.name, role, settings: asked, ...(q && { q }) }
  const { query, items, time, refresh } = useDiscovered({
    accountId,
    id: connectorId,
    ...(configurationId === undefined ? {} : { query: { configurationId } }),
    body,
  })
  const settled = q === text.trim() && !query.isFetching
  const picked = several ? namesIn(value) : [value]
  const above = folderAbove(folderOf(text))
  const browse = (folder: string) => {
    ask.cancel()
    setText(folder)
    setQ(folder)
    keys.reset()
    search.current?.focus()
  }
  const pick = (item: Item & { kind?: DiscoveredKind }) => {
    if (item.kind === 'folder') browse(item.value)
    else onPick(item)
  }
  const use = () => onEnter(text.trim())
  const keys = useListKeys(items, (active) => {
    const chosen = active ?? (settled && items.length === 1 ? items[0] : undefined)
    if (chosen) pick(chosen)
    else if (settled && items.length === 0 && text.trim() !== '') use()
  })
  const isReading = query.isPending && query.isFetching
  const isFailed = query.isError && !query.isFetching
  const list = !isFailed && items.length > 0
  return (
    <>
      <TextInput
        {...inList}
        ref={search}
        data-autofocus
        {...keys.search}
        aria-label={say.search(field.label)}
        aria-expanded={list}
        aria-controls={list ? keys.listId : undefined}
        aria-activedescendant={list ? keys.search['aria-activedescendant'] : undefined}
        placeholder={say.search(field.label)}
        autoComplete="off"
        spellCheck={false}
        maxLength={limits.discoverySearchLengthMax}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          ask(currentTarget.value.trim())
          keys.reset()
        }}
        leftSectionPointerEvents={above === undefined ? 'none' : 'all'}
        leftSection={
          above === undefined ? (
            <IconSearch size={16} aria-hidden />
          ) : (
            <ActionIcon {...inList} variant="subtle" color="gray" aria-label={say.up} onClick={() => browse(above)}>
              <IconCornerLeftUp size={16} aria-hidden />
            </ActionIcon>
          )
        }
        rightSection={
          text && <CloseButton {...inList} size="sm" aria-label={say.clearSearch} onClick={() => browse('')} />
        }
        p="xs"
      />
      {list ? (
        <div
          id={keys.listId}
          role="listbox"
          aria-label={say.list(field.label)}
          aria-multiselectable={several}
          aria-busy={query.isFetching}
          className={classes.list}
        >
          {items.map((item, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the search keeps the focus, and names the active option
            <div
              key={item.value}
              {...keys.optionAt(at)}
              role="option"
              aria-selected={picked.includes(item.value)}
              className={`${classes.row} ${classes.option}`}
              onClick={() => pick(item)}
            >
              <Row item={item} isPicked={picked.includes(item.value)} />
            </div>
          ))}
        </div>
      ) : (
        <div className={classes.list}>
          {isReading && <Rows />}
          {isFailed && <Refused error={query.error} onRetry={refresh} />}
          {query.isSuccess && (
            <Text size="sm" c="dimmed" p="sm">
              {say.none}. {say.noneHelp}
            </Text>
          )}
        </div>
      )}
      <div className={classes.foot}>
        <Text size="xs" c="dimmed" role="status">
          {isReading ? say.reading : !isFailed && say.found(items.length, query.hasNextPage)}
        </Text>
        {list && query.hasNextPage && (
          <Button
            {...inList}
            size="compact-sm"
            variant="subtle"
            loading={query.isFetchingNextPage}
            onClick={() =>
              void query.fetchNextPage().then(({ hasNextPage }) => {
                // The button is gone after the last page.
                if (!hasNextPage) search.current?.focus()
              })
            }
          >
            {say.more}
          </Button>
        )}
      </div>
      <div className={classes.foot}>
        <Button
          {...inList}
          size="compact-sm"
          variant="subtle"
          miw={0}
          ml={-8}
          onClick={() => (text.trim() === '' ? onType() : use())}
        >
          {text.trim() === '' ? say.type : say.use(text.trim())}
        </Button>
        <Group gap={4} wrap="nowrap">
          {time !== undefined && (
            <Text size="xs" c="dimmed">
              {say.readTime} <Time seconds={time} />
            </Text>
          )}
          <ActionIcon
            {...inList}
            variant="subtle"
            color="gray"
            aria-label={say.readAgain}
            loading={query.isFetching && !query.isFetchingNextPage}
            onClick={refresh}
          >
            <IconRefresh size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </div>
    </>
  )
}

const icons: Readonly<Record<DiscoveredKind, typeof IconTable>> = {
  schema: IconStack2,
  table: IconTable,
  view: IconEye,
  column: IconColumns3,
  folder: IconFolder,
  file: IconFile,
  sheet: IconTable,
  account: IconBuilding,
  audience: IconUsers,
  object: IconBox,
}

function Row({
  item: { value, label, kind, type, key, rows },
  isPicked,
}: {
  item: Found['items'][number]
  isPicked: boolean
}) {
  const Icon = icons[kind]
  const name = label ?? (kind === 'file' || kind === 'folder' ? nameOf(value) : value)
  const facts = [label !== null && value, type, rows !== null && say.rows(kind, rows)].filter(Boolean)
  return (
    <>
      <Icon size={16} aria-hidden style={{ flexShrink: 0 }} />
      <Text size="sm" truncate flex={1} title={label ?? value}>
        {name}
      </Text>
      {key && (
        <>
          <IconKey size={14} aria-hidden style={{ flexShrink: 0 }} />
          <VisuallyHidden>{say.key}</VisuallyHidden>
        </>
      )}
      <Text size="xs" c="dimmed" truncate maw="50%">
        {facts.length > 0 ? facts.join(' · ') : say.kind(kind)}
      </Text>
      {isPicked && <IconCheck size={16} aria-hidden style={{ flexShrink: 0 }} />}
      {kind === 'folder' && <IconChevronRight size={16} aria-hidden style={{ flexShrink: 0 }} />}
    </>
  )
}

/** Rows of the final height. */
const Rows = () => (
  <div className={classes.skeleton} aria-hidden>
    {Array.from({ length: skeletonRows }, (_, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
      <div key={at} className={classes.row}>
        <Skeleton height={14} />
      </div>
    ))}
  </div>
)

/** Why there is no list; a name can be entered all the same. */
function Refused({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { title, help, problems } = describe(error)
  const isOfPlatform = error instanceof PenstockError && error.code === 'platform_refused'
  const reasons =
    isOfPlatform && error.details.length > 0 ? error.details.map(({ message }) => message) : [title, help, ...problems]
  return (
    <Alert color="red" radius={0} icon={<IconAlertTriangle aria-hidden />} title={say.failed} role="alert">
      <Text size="sm" mb="xs" style={{ overflowWrap: 'anywhere' }}>
        {[...reasons.filter(Boolean), say.failedHelp].join(' ')}
      </Text>
      <Button {...inList} size="compact-sm" variant="light" color="red" onClick={onRetry}>
        {components.retry}
      </Button>
    </Alert>
  )
}
