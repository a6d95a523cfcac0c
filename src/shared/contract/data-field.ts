/** The literal name of the field that carries a rule's data, in requests, responses and files. */
export const DATA_FIELD = 'the service';
