import { Button, Modal, Stack, Text, TextInput } from '@mantine/core'
import { limits, type MappingTemplate } from '@penstock/wire'
import { useState } from 'react'
import { useMe } from '../../../api/me.ts'
import { useRead, useWrite } from '../../../api/queries.ts'
import { Loaded } from '../../../components/loaded.tsx'
import { notifyDone, notifyFailure } from '../../../components/notify.ts'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import type { TemplateTarget } from './shared.ts'

/** Renames and deletes the templates for the destination. */
export function ManageTemplates({
  target: { accountId, destConnectorId },
  onClose,
}: {
  target: TemplateTarget
  onClose: () => void
}) {
  const query = useRead(
    'listMappingTemplates',
    { accountId, query: { destConnectorId, size: limits.pageSizeMax } },
    { keep: true },
  )
  const isLimited = useMe()?.accountIds !== null
  return (
    <Modal opened onClose={onClose} returnFocus={false} title={say.manageTitle}>
      <Loaded query={query} lines={4}>
        {({ reply }) => (
          <Stack gap="md">
            {reply.length === 0 && <Text size="sm">{say.none}</Text>}
            {reply.map((template) => (
              <Template
                key={template.id}
                template={template}
                reason={isLimited && template.accountId === null ? say.notYours : undefined}
              />
            ))}
          </Stack>
        )}
      </Loaded>
    </Modal>
  )
}

function Template({
  template: { id, name, accountId },
  reason,
}: {
  template: MappingTemplate
  /** Why it cannot be changed; undefined if it can. */
  reason: string | undefined
}) {
  const [text, setText] = useState(name)
  const [update, remove] = [useWrite('updateMappingTemplate'), useWrite('deleteMappingTemplate')]
  const create = useWrite('createMappingTemplate')
  const rename = async () => {
    try {
      await update.mutateAsync({ id, body: { name: text.trim() } })
      notifyDone(say.renamed)
    } catch (error) {
      notifyFailure(error)
    }
  }
  const drop = async () => {
    try {
      const { reply } = await remove.mutateAsync({ id })
      const { destConnectorId, srcConnectorId, mapping } = reply
      const body = { name: reply.name, accountId: reply.accountId, destConnectorId, srcConnectorId, mapping }
      notifyDone(say.deleted(name), () => create.mutateAsync({ body }))
    } catch (error) {
      notifyFailure(error)
    }
  }
  return (
    <Stack gap={6}>
      <TextInput
        aria-label={say.nameOf(name)}
        description={reason ?? (accountId === null ? say.sharedHelp : undefined)}
        maxLength={limits.nameLengthMax}
        disabled={reason !== undefined}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      {reason === undefined && (
        <Button.Group>
          <Button
            size="xs"
            variant="default"
            aria-label={say.renameOf(name)}
            disabled={text.trim() === '' || text.trim() === name}
            onClick={() => void rename()}
          >
            {say.rename}
          </Button>
          <Button size="xs" variant="default" aria-label={say.deleteOf(name)} onClick={() => void drop()}>
            {say.delete}
          </Button>
        </Button.Group>
      )}
    </Stack>
  )
}
