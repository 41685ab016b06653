import { Text, TextInput } from '@mantine/core'
import type { MappingTemplate } from '@penstock/wire'
import { limits } from '@penstock/wire'
import { IconSearch } from '@tabler/icons-react'
import { useRead } from '../../../api/queries.ts'
import { Failure } from '../../../components/failure.tsx'
import classes from '../../../components/fields/picker.module.css'
import { useListKeys } from '../../../components/list-keys.ts'
import { useSearchText } from '../../../components/pick-found.tsx'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import type { TemplateTarget } from './shared.ts'

/** The templates for the destination, searched by the service. */
export function PickTemplate({
  target: { accountId, destConnectorId },
  onPick,
}: {
  target: TemplateTarget
  onPick: (template: MappingTemplate) => void
}) {
  const { text, setText, query } = useSearchText()
  const read = useRead('listMappingTemplates', { accountId, query: { ...query, destConnectorId } }, { keep: true })
  const found = read.data?.reply ?? []
  const keys = useListKeys(found, (active) => {
    const chosen = active ?? (found.length === 1 ? found[0] : undefined)
    if (chosen) onPick(chosen)
  })
  if (read.error) return <Failure error={read.error} onRetry={() => void read.refetch()} />
  return (
    <div>
      <TextInput
        data-autofocus
        {...keys.search}
        aria-label={say.search}
        placeholder={say.search}
        autoComplete="off"
        spellCheck={false}
        maxLength={limits.filterLengthMax}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          keys.reset()
        }}
        leftSectionPointerEvents="none"
        leftSection={<IconSearch size={16} aria-hidden />}
        pb="xs"
      />
      <div id={keys.listId} role="listbox" aria-label={say.list} className={classes.list}>
        {found.map((template, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the search keeps the focus, and names the active option
          <div
            key={template.id}
            {...keys.optionAt(at)}
            role="option"
            aria-selected={false}
            className={`${classes.row} ${classes.option}`}
            onClick={() => onPick(template)}
          >
            <Text size="sm" truncate flex={1} title={template.name}>
              {template.name}
            </Text>
            <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
              {[template.accountId === null && say.shared, say.fields(template.fields)].filter(Boolean).join(' · ')}
            </Text>
          </div>
        ))}
      </div>
      <div className={classes.hint}>
        <Text size="xs" c="dimmed" role="status">
          {read.data && found.length === 0 && (query.q ? say.noneFound : say.none)}
          {found.length > 0 && found.length < (read.data?.total ?? 0) && say.more}
        </Text>
      </div>
    </div>
  )
}
