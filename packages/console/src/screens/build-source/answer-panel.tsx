import { ActionIcon, Alert, Button, Code, Collapse, CopyButton, Loader, Stack, Table, Text } from '@mantine/core'
import type { SourceAnswer } from '@penstock/wire'
import { IconAlertTriangle, IconCheck, IconChevronRight, IconCopy, IconInfoCircle } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { Lines } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { buildSource as say } from '../../strings/build-source.ts'
import { keysOf, parseAnswer, pathText } from './answer-json.ts'
import { AnswerStatus } from './answer-status.tsx'
import { AnswerTree } from './answer-tree.tsx'
import classes from './build-source.module.css'
import { Panel } from './panel.tsx'
import { hasRecords, pagesByValue } from './proposals.ts'
import type { TreePick } from './tree.ts'
import type { AskedAnswer } from './use-ask.ts'
import type { EditPart, PartSettings } from './use-parts.ts'

/** The answer to the request: its status, what it means, and its JSON, in which values are picked. */
export function AnswerPanel({
  stream,
  asked,
  asking,
  edit,
  onNextPage,
}: {
  stream: PartSettings
  asked: AskedAnswer | undefined
  /** A request is on its way. */
  asking: boolean
  edit: EditPart
  /** @param page what the answer names as its next page */
  onNextPage: (page: string) => void
}) {
  const reply = asked?.reply
  const answer = reply?.answer
  return (
    <Panel
      step={2}
      title={say.answer}
      note={answer && <AnswerStatus {...answer} />}
      actions={
        asked && (
          <>
            <Text size="xs" c="dimmed">
              {say.page(asked.page)}
            </Text>
            {asking && <Loader size={14} aria-label={say.asking} />}
            {reply?.next && (
              <Button size="compact-xs" variant="default" onClick={() => onNextPage(reply.next ?? '')}>
                {say.nextPage}
              </Button>
            )}
            {answer && <Copy text={answer.text} />}
          </>
        )
      }
    >
      <Stack gap="sm" aria-live="polite" aria-busy={asking}>
        {reply ? (
          <Answered stream={stream} reply={reply} edit={edit} />
        ) : asking ? (
          <>
            <Text size="sm" c="dimmed">
              {say.asking}
            </Text>
            <Lines lines={4} />
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {say.answerHelp}
          </Text>
        )}
      </Stack>
    </Panel>
  )
}

function Copy({ text }: { text: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <ActionIcon variant="subtle" color="gray" aria-label={say.copy} onClick={copy}>
          {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
        </ActionIcon>
      )}
    </CopyButton>
  )
}

function Answered({ stream, reply, edit }: { stream: PartSettings; reply: SourceAnswer; edit: EditPart }) {
  const { request, answer, error } = reply
  const parsed = useMemo(() => (answer?.json ? parseAnswer(answer.text) : undefined), [answer])
  const records = useMemo(() => keysOf(stream.records), [stream.records])
  const pages = stream.pages as { at?: unknown } | undefined
  const pick = (one: TreePick, value: unknown) => {
    if (one.kind === 'records') edit.set(['records'], pathText(one.keys))
    else if (one.kind === 'column') edit.toggle(['columns'], one.column)
    else if (one.kind === 'next') edit.setEntries(['pages'], Object.entries(pagesByValue(value, one.keys)))
  }
  return (
    <>
      {request && (
        <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {request.method} {request.url}
        </Text>
      )}
      {error && (
        <Alert
          color="red"
          icon={<IconAlertTriangle aria-hidden />}
          title={answer ? error.message : say.noAnswer}
          role="alert"
        >
          {answer ? helpOf(answer) : error.message}
        </Alert>
      )}
      {answer && answer.headers.length > 0 && <Headers key={reply.askedTime} headers={answer.headers} />}
      {answer?.entriesMax != null && (
        <Alert color="gray" icon={<IconInfoCircle aria-hidden />}>
          {say.cut(count(answer.entriesMax))}
        </Alert>
      )}
      {answer &&
        (parsed === undefined ? (
          answer.text === '' ? (
            <Text size="sm">{say.empty}</Text>
          ) : (
            <Code block className={classes.body} tabIndex={0} role="region" aria-label={say.answer}>
              {answer.text}
            </Code>
          )
        ) : (
          <>
            <AnswerTree
              key={reply.askedTime}
              answer={parsed}
              records={records}
              hasRecords={hasRecords(parsed, stream.records)}
              columns={Array.isArray(stream.columns) ? stream.columns.map(String) : []}
              next={keysOf(pages?.at)}
              onPick={pick}
            />
            <Text size="xs" c="dimmed">
              {say.treeHelp}
            </Text>
          </>
        ))}
    </>
  )
}

function Headers({ headers }: { headers: readonly { readonly name: string; readonly value: string }[] }) {
  const [shown, setShown] = useState(false)
  return (
    <div>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        aria-expanded={shown}
        leftSection={
          <IconChevronRight size={14} aria-hidden style={{ transform: shown ? 'rotate(90deg)' : undefined }} />
        }
        onClick={() => setShown(!shown)}
      >
        {say.showHeaders}
      </Button>
      <Collapse expanded={shown}>
        <Table fz="xs" verticalSpacing={4} aria-label={say.showHeaders}>
          <Table.Tbody>
            {headers.map(({ name, value }) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" w="40%">
                  {name}
                </Table.Th>
                <Table.Td ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {value}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Collapse>
    </div>
  )
}

/** A sentence about an answer that a transfer could not use, with the next action. */
function helpOf({ status, headers, json, text }: NonNullable<SourceAnswer['answer']>): string | undefined {
  const header = (wanted: string) => headers.find(({ name }) => name === wanted)?.value
  if (status >= 300 && status < 400) return say.redirects(header('location') ?? say.otherAddress)
  if (status >= 500) return say.serverHelp
  const wait = /^\d{1,6}$/.exec(header('retry-after') ?? '')?.[0]
  if (status === 429 && wait !== undefined) return say.wait(wait)
  return say.statusHelp[status] ?? (json || text === '' ? undefined : say.notJsonHelp)
}
