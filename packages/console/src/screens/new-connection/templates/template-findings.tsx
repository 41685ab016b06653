import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { mapper } from '../../../strings/mapper.ts'
import { mappingTemplates as say } from '../../../strings/mapping-templates.ts'
import type { Applied } from './shared.ts'
import type { TemplateFinding } from './template-lines.ts'

/** The entries of a template that do not apply, each with its field and the columns that may be meant. */
export function TemplateFindings({
  findings,
  hasRecords,
}: {
  findings: readonly TemplateFinding[]
  hasRecords: boolean
}) {
  return (
    <List size="sm" spacing={4}>
      {findings.map(({ field, message, templateColumn, candidates }) => (
        <List.Item key={field} style={{ overflowWrap: 'anywhere' }}>
          {[
            templateColumn === undefined ? say.notTaken(message) : say.missing(templateColumn),
            templateColumn !== undefined && say.missingAt(hasRecords ? mapper.labelOf(field) : field),
            candidates.length > 0 && say.mayBe(candidates.join(', ')),
          ]
            .filter(Boolean)
            .join(' ')}
        </List.Item>
      ))}
    </List>
  )
}

/** The losses of a standard, by the columns of the source. */
export function TemplateLosses({ losses }: Pick<Applied, 'losses'>) {
  return (
    <List size="sm" spacing={4}>
      {losses.map(({ column, message }) => (
        <List.Item key={`${column} ${message}`} style={{ overflowWrap: 'anywhere' }}>
          {say.loss(column, message)}
        </List.Item>
      ))}
    </List>
  )
}

/** The template that was applied, above the mapping: what it left open, and how to take it back. */
export function AppliedTemplate({
  applied: { name, findings, losses },
  hasRecords,
  onUndo,
  onClose,
}: {
  applied: Applied
  hasRecords: boolean
  /** Undefined: the mapping was edited since. */
  onUndo: (() => void) | undefined
  onClose: () => void
}) {
  const isWhole = findings.length === 0 && losses.length === 0
  return (
    <Alert
      role="status"
      color={isWhole ? 'teal' : 'yellow'}
      icon={isWhole ? <IconCheck aria-hidden /> : <IconAlertTriangle aria-hidden />}
      title={say.applied(name)}
    >
      <Stack gap="xs">
        {isWhole ? (
          <Text size="sm">{say.appliedHelp}</Text>
        ) : (
          <>
            <TemplateFindings findings={findings} hasRecords={hasRecords} />
            <TemplateLosses losses={losses} />
          </>
        )}
        <Group gap="xs">
          {onUndo && (
            <Button size="compact-sm" variant="default" onClick={onUndo}>
              {say.undo}
            </Button>
          )}
          <Button size="compact-sm" variant="default" onClick={onClose}>
            {say.close}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
