import { Checkbox, Select, TextInput } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useState } from 'react'
import { useMe } from '../../../api/me.ts'
import { readNow, useRead, useWrite } from '../../../api/queries.ts'
import { FormDialog } from '../../../components/form-dialog.tsx'
import { mapper } from '../../../strings/mapper.ts'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import type { TemplateTarget } from './shared.ts'
import { valueLines } from './template-lines.ts'

/** Saves the mapping as it is edited: as a new template, or in place of one. */
export function SaveTemplate({ target, onClose }: { target: TemplateTarget; onClose: () => void }) {
  const { accountId, srcConnectorId, destConnectorId, sourceName, destinationName, lines, hasRecords } = target
  const [name, setName] = useState(() => say.usualName(sourceName, destinationName).slice(0, limits.nameLengthMax))
  const [replaced, setReplaced] = useState<string | null>(null)
  const [shared, setShared] = useState(false)
  const [withValues, setWithValues] = useState(true)
  const [create, update] = [useWrite('createMappingTemplate'), useWrite('updateMappingTemplate')]
  const isLimited = useMe()?.accountIds !== null
  const query = { destConnectorId, size: limits.pageSizeMax }
  const all = useRead('listMappingTemplates', { accountId, query }).data?.reply ?? []
  const own = all.filter(({ accountId: owner, builtIn }) => !builtIn && (owner !== null || !isLimited))
  const values = valueLines(lines)
  const send = async () => {
    const kept = withValues ? lines : lines.filter(({ entry }) => entry.kind !== 'value')
    const left = new Set(withValues ? [] : values.map(({ field }) => field))
    const mapping = withoutFields(target.textFor(kept), left)
    const content = { name: name.trim(), mapping }
    if (replaced === null) {
      const of = { accountId: shared ? null : accountId, srcConnectorId, destConnectorId }
      await create.mutateAsync({ body: { ...content, ...of } })
    } else {
      const { etag } = await readNow('getMappingTemplate', { id: replaced })
      await update.mutateAsync({ id: replaced, body: content, ifMatch: etag })
    }
    return say.saved(content.name)
  }
  return (
    <FormDialog title={say.saveTitle} disabled={name.trim() === ''} onSubmit={send} onClose={onClose}>
      {(errorOf) => (
        <>
          {own.length > 0 && (
            <Select
              label={say.replace}
              placeholder={say.newOne}
              data={own.map((template) => ({ value: template.id, label: template.name }))}
              value={replaced}
              clearable
              searchable={own.length > 8}
              clearButtonProps={{ 'aria-label': say.newOne }}
              onChange={(id) => {
                setReplaced(id)
                const picked = own.find((template) => template.id === id)
                if (picked) setName(picked.name)
              }}
            />
          )}
          <TextInput
            label={say.name}
            required
            data-autofocus
            maxLength={limits.nameLengthMax}
            value={name}
            error={errorOf('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {values.length > 0 && (
            <Checkbox
              label={say.values}
              description={say.valuesHelp(
                values
                  .map(({ field, value }) => say.value(hasRecords ? mapper.labelOf(field) : field, value))
                  .join(', '),
              )}
              checked={withValues}
              onChange={({ currentTarget }) => setWithValues(currentTarget.checked)}
            />
          )}
          {replaced === null && (
            <Checkbox
              label={say.share}
              description={isLimited ? say.onlyHere : say.shareHelp}
              disabled={isLimited}
              checked={shared}
              onChange={({ currentTarget }) => setShared(currentTarget.checked)}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

/** A complete mapping names every field. Fields that are left out must not be emptied when it is applied. */
const withoutFields = (mapping: string, fields: ReadonlySet<string>): string =>
  fields.size === 0
    ? mapping
    : JSON.stringify(
        Object.fromEntries(Object.entries(JSON.parse(mapping) as object).filter(([key]) => !fields.has(key))),
      )
