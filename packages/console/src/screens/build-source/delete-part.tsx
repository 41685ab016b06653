import { ActionIcon } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { Confirm } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'

/** The button that removes a stream or an operation from the definition. */
export function DeletePart({
  label,
  title,
  help,
  onDelete,
}: {
  label: string
  title: string
  help: string
  onDelete: () => void
}) {
  const [dialog, open] = useDialog()
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={30}
        aria-label={label}
        onClick={() =>
          open((close) => (
            <Confirm title={title} action={label} onClose={close} onConfirm={async () => onDelete()}>
              {help}
            </Confirm>
          ))
        }
      >
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
      {dialog}
    </>
  )
}
