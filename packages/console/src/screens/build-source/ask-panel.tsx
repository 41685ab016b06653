import { ActionIcon, Group, Select, Text, Textarea } from '@mantine/core'
import { IconSend, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { Confirm } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { mono } from '../../components/mono.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { buildSource as say } from '../../strings/build-source.ts'
import { CodeInput } from './code-input.tsx'
import { CursorSettings } from './cursor-settings.tsx'
import { KeyValues } from './key-values.tsx'
import { PagesSettings } from './pages-settings.tsx'
import { Panel } from './panel.tsx'
import { PartitionSettings } from './partition-settings.tsx'
import type { EditStream, StreamSettings } from './use-streams.ts'

/** The request of a stream. */
export function AskPanel({
  name,
  stream,
  url,
  others,
  edit,
  onSend,
  onDelete,
}: {
  name: string
  stream: StreamSettings
  /** The address of the API, to which the path is added. */
  url: string
  /** The names of the other streams. */
  others: readonly string[]
  edit: EditStream
  onSend: () => void
  onDelete: () => void
}) {
  const forbidden = useForbidden('askSource')
  const [dialog, open] = useDialog()
  const method = stream.method ?? (stream.body === undefined ? 'GET' : 'POST')
  const rules = Array.isArray(stream.errors) ? stream.errors.length : 0
  return (
    <Panel
      step={1}
      title={say.ask}
      actions={
        <>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={30}
            aria-label={say.deleteStream}
            onClick={() =>
              open((close) => (
                <Confirm
                  title={say.deleteStreamTitle(name)}
                  action={say.deleteStream}
                  onClose={close}
                  onConfirm={async () => onDelete()}
                >
                  {say.deleteStreamHelp}
                </Confirm>
              ))
            }
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
          <ReasonedButton
            size="xs"
            reason={forbidden}
            leftSection={<IconSend size={14} aria-hidden />}
            onClick={onSend}
          >
            {say.send}
          </ReasonedButton>
        </>
      }
    >
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <Select
          size="xs"
          w={92}
          label={say.method}
          data={['GET', 'POST']}
          value={String(method)}
          allowDeselect={false}
          onChange={(next) => edit.set(['method'], next === 'GET' ? undefined : next)}
        />
        <CodeInput
          label={say.path}
          description={say.pathHelp(url)}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={String(stream.path ?? '')}
          style={{ flex: 1, minWidth: 0 }}
          onChange={(text) => edit.set(['path'], text)}
        />
      </Group>
      <KeyValues
        key={`query of ${name}`}
        label={say.query}
        add={say.addParameter}
        values={stream.query}
        onChange={(entries) => edit.setEntries(['query'], entries)}
      />
      <KeyValues
        key={`headers of ${name}`}
        label={say.headers}
        add={say.addHeader}
        values={stream.headers}
        onChange={(entries) => edit.setEntries(['headers'], entries)}
      />
      <Text size="xs" c="dimmed">
        {say.templates}
      </Text>
      {method === 'POST' && (
        <Body key={`body of ${name}`} body={stream.body} onChange={(body) => edit.set(['body'], body)} />
      )}
      <PagesSettings stream={stream} edit={edit} isPost={method === 'POST'} />
      <PartitionSettings stream={stream} edit={edit} others={others} />
      <CursorSettings stream={stream} edit={edit} />
      {rules > 0 && (
        <Text size="xs" c="dimmed">
          {say.rulesInText(rules)}
        </Text>
      )}
      {dialog}
    </Panel>
  )
}

/** The body of a request. Typed text is part of the definition once it is JSON. */
function Body({ body, onChange }: { body: unknown; onChange: (body: unknown) => void }) {
  const [typed, setTyped] = useState(() => (body === undefined ? '' : JSON.stringify(body, null, 2)))
  const [wrong, setWrong] = useState(false)
  const change = (next: string) => {
    setTyped(next)
    try {
      onChange(next.trim() === '' ? undefined : (JSON.parse(next) as unknown))
      setWrong(false)
    } catch {
      setWrong(true)
    }
  }
  return (
    <Textarea
      size="xs"
      label={say.body}
      description={say.bodyHelp}
      value={typed}
      error={wrong && say.bodyInvalid}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      styles={mono}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}
