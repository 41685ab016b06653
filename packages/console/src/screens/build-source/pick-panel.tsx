import { Alert, Button, Checkbox, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { SourceAnswer } from '@penstock/wire'
import { IconBulb } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { count } from '../../components/numbers.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import { isObject, keysOf, parseAnswer, pathText, recordsAt, shown } from './answer-json.ts'
import classes from './build-source.module.css'
import { CodeInput } from './code-input.tsx'
import { columnsIn, type FoundColumn } from './columns.ts'
import { Panel } from './panel.tsx'
import { hasRecords, listIn, pagesIn } from './proposals.ts'
import type { EditPart, PartSettings } from './use-parts.ts'

const sampleLengthMax = 40

/** The records of an answer and their columns, with what the answer suggests. */
export function PickPanel({
  stream,
  reply,
  edit,
}: {
  stream: PartSettings
  /** The last answer for the stream. */
  reply: SourceAnswer | undefined
  edit: EditPart
}) {
  const text = reply?.answer?.json ? reply.answer.text : undefined
  const answer = useMemo(() => (text === undefined ? undefined : parseAnswer(text)), [text])
  const keys = keysOf(stream.records)
  const isThere = answer !== undefined && (hasRecords(answer, stream.records) || keys.length === 0)
  const list = answer === undefined || hasRecords(answer, stream.records) ? undefined : listIn(answer)
  const pages =
    answer === undefined || stream.pages !== undefined
      ? undefined
      : pagesIn(answer, reply?.answer?.headers ?? [], keys, isObject(stream.query) ? stream.query : {})
  const chosen = Array.isArray(stream.columns) ? stream.columns.map(String) : undefined
  const found = isThere ? columnsIn(recordsAt(answer, keys), chosen) : []
  return (
    <Panel step={3} title={say.pick}>
      <Stack gap={0} aria-live="polite">
        {list && (
          <Proposal
            text={say.proposedRecords(list.keys.join('.'), count(list.items))}
            onUse={() => edit.set(['records'], pathText(list.keys))}
          />
        )}
        {pages && !list && (
          <Proposal
            text={say.proposedPages(wordsOf(pages))}
            onUse={() => edit.setEntries(['pages'], Object.entries(pages))}
          />
        )}
      </Stack>
      <CodeInput
        label={say.records}
        description={say.recordsHelp}
        value={keys.join('.')}
        error={answer !== undefined && !isThere && say.recordsMissing}
        onChange={(text) => edit.set(['records'], text || undefined)}
      />
      <Columns
        found={found}
        chosen={chosen}
        onToggle={(path) => edit.toggle(['columns'], path)}
        onChoose={(columns) => edit.set(['columns'], columns)}
      />
    </Panel>
  )
}

const wordsOf = (pages: Readonly<Record<string, unknown>>): string => {
  const label = say.pagesBy[pages.by as keyof typeof say.pagesBy]
  return say.pagesWords(label, keysOf(pages.at).join('.') || String(pages.parameter ?? ''))
}

function Proposal({ text, onUse }: { text: string; onUse: () => void }) {
  return (
    <Alert color="water" icon={<IconBulb aria-hidden />} py="xs">
      <Group gap="xs" justify="space-between">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {text}
        </Text>
        <Button size="compact-sm" variant="default" onClick={onUse}>
          {say.useIt}
        </Button>
      </Group>
    </Alert>
  )
}

function Columns({
  found,
  chosen,
  onToggle,
  onChoose,
}: {
  found: readonly FoundColumn[]
  /** Undefined: all fields. */
  chosen: readonly string[] | undefined
  onToggle: (path: string) => void
  /** @param columns undefined: all fields */
  onChoose: (columns: string[] | undefined) => void
}) {
  const [typed, setTyped] = useState('')
  const paths = found.length > 0 ? found.map(({ path }) => path) : (chosen ?? [])
  return (
    <Stack gap="xs" role="group" aria-label={say.columns}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {say.columns}
        </Text>
        {paths.length > 0 && (
          <SegmentedControl
            size="xs"
            aria-label={say.columns}
            data={Object.entries(say.columnsOf).map(([value, label]) => ({ value, label }))}
            value={chosen ? 'chosen' : 'all'}
            onChange={(next) => onChoose(next === 'all' ? undefined : [...paths])}
          />
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {paths.length === 0 ? say.columnsWait : chosen ? say.chosenHelp : say.allHelp}
      </Text>
      {paths.length > 0 && (
        <Stack gap={6} className={classes.columns} p={4} tabIndex={0} role="region" aria-label={say.columnsOf.chosen}>
          {paths.map((path) => {
            const column = found.find((one) => one.path === path)
            return (
              <Checkbox
                key={path}
                size="xs"
                checked={chosen ? chosen.includes(path) : !path.includes('.')}
                disabled={chosen === undefined}
                label={
                  <Text span size="xs" ff="monospace" fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {path}
                  </Text>
                }
                description={column && describe(column)}
                onChange={() => onToggle(path)}
              />
            )
          })}
        </Stack>
      )}
      {chosen && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const path = typed.trim()
            if (path !== '' && !chosen.includes(path)) onToggle(path)
            setTyped('')
          }}
        >
          <Group gap="xs" align="flex-end">
            <CodeInput label={say.anotherColumn} value={typed} style={{ flex: 1 }} onChange={setTyped} />
            <Button size="xs" variant="default" type="submit">
              {say.addColumn}
            </Button>
          </Group>
        </form>
      )}
    </Stack>
  )
}

function describe({ kind, sample, missing }: FoundColumn): string {
  const value = sample === null ? '' : shown(sample)
  const text = value.length > sampleLengthMax ? `${value.slice(0, sampleLengthMax)}…` : value
  return [say.kinds[kind], value !== '' && say.example(text), missing > 0 && say.missing(count(missing))]
    .filter(Boolean)
    .join(' · ')
}
