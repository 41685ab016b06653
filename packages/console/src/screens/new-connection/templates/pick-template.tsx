import { Text } from '@mantine/core'
import type { MappingTemplate } from '@penstock/wire'
import { limits } from '@penstock/wire'
import { useRead } from '../../../api/queries.ts'
import { Failure } from '../../../components/failure.tsx'
import classes from '../../../components/fields/picker.module.css'
import { useSearchText } from '../../../components/pick-found.tsx'
import { SearchList } from '../../../components/search-list.tsx'
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
  if (read.error) return <Failure error={read.error} onRetry={() => void read.refetch()} />
  return (
    <div>
      <SearchList
        label={say.search}
        list={say.list}
        text={text}
        maxLength={limits.filterLengthMax}
        options={found}
        usual={found.length === 1 ? found[0] : undefined}
        keyOf={({ id }) => id}
        onText={setText}
        onPick={onPick}
      >
        {({ name, accountId: owner, builtIn, fields }) => (
          <>
            <Text size="sm" truncate flex={1} title={name}>
              {name}
            </Text>
            <Text size="xs" c="dimmed" style={{ flexShrink: 0 }}>
              {[builtIn ? say.standard : owner === null && say.shared, say.fields(fields)].filter(Boolean).join(' · ')}
            </Text>
          </>
        )}
      </SearchList>
      <div className={classes.hint}>
        <Text size="xs" c="dimmed" role="status">
          {read.data && found.length === 0 && (query.q ? say.noneFound : say.none)}
          {found.length > 0 && found.length < (read.data?.total ?? 0) && say.more}
        </Text>
      </div>
    </div>
  )
}
