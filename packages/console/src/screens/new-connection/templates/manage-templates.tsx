import { Modal, Stack, Text } from '@mantine/core'
import { limits, type MappingTemplate } from '@penstock/wire'
import { useMe } from '../../../api/me.ts'
import { useRead, useWrite } from '../../../api/queries.ts'
import { Loaded } from '../../../components/loaded.tsx'
import { NamedLine } from '../../../components/named-line.tsx'
import { notifyDone, notifyFailure, notifyOutcome } from '../../../components/notify.ts'
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
            {reply.every(({ builtIn }) => builtIn) && <Text size="sm">{say.none}</Text>}
            {reply
              .filter(({ builtIn }) => !builtIn)
              .map((template) => (
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
  const [update, remove] = [useWrite('updateMappingTemplate'), useWrite('deleteMappingTemplate')]
  const create = useWrite('createMappingTemplate')
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
    <NamedLine
      name={name}
      label={say.nameOf(name)}
      help={reason ?? (accountId === null ? say.sharedHelp : undefined)}
      disabled={reason !== undefined}
      words={{ rename: say.rename, delete: say.delete, renameOf: say.renameOf(name), deleteOf: say.deleteOf(name) }}
      onRename={(typed) => notifyOutcome(update.mutateAsync({ id, body: { name: typed } }), say.renamed)}
      onDelete={drop}
    />
  )
}
