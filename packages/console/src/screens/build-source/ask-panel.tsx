import { Text } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { buildSource as say } from '../../strings/build-source.ts'
import { CursorSettings } from './cursor-settings.tsx'
import { DeletePart } from './delete-part.tsx'
import { JsonInput } from './json-input.tsx'
import { PagesSettings } from './pages-settings.tsx'
import { Panel } from './panel.tsx'
import { PartitionSettings } from './partition-settings.tsx'
import { RequestFields } from './request-fields.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

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
  stream: PartSettings
  /** The address of the API, to which the path is added. */
  url: string
  /** The names of the other streams. */
  others: readonly string[]
  edit: EditPart
  onSend: () => void
  onDelete: () => void
}) {
  const forbidden = useForbidden('askSource')
  const method = stream.method ?? (stream.body === undefined ? 'GET' : 'POST')
  const rules = Array.isArray(stream.errors) ? stream.errors.length : 0
  return (
    <Panel
      step={1}
      title={say.ask}
      actions={
        <>
          <DeletePart
            label={say.deleteStream}
            title={say.deleteStreamTitle(name)}
            help={say.deleteStreamHelp}
            onDelete={onDelete}
          />
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
      <RequestFields
        name={name}
        part={stream}
        url={url}
        methods={['GET', 'POST']}
        method={String(method)}
        templates={say.templates}
        edit={edit}
      />
      {method === 'POST' && (
        <JsonInput
          key={`body of ${name}`}
          label={say.body}
          description={say.bodyHelp}
          value={stream.body}
          onChange={(body) => edit.set(['body'], body)}
        />
      )}
      <PagesSettings stream={stream} edit={edit} isPost={method === 'POST'} />
      <PartitionSettings stream={stream} edit={edit} others={others} />
      <CursorSettings stream={stream} edit={edit} />
      {rules > 0 && (
        <Text size="xs" c="dimmed">
          {say.rulesInText(rules)}
        </Text>
      )}
    </Panel>
  )
}
