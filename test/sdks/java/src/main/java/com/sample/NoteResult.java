package com.sample;

import com.ice.core.annotation.IceField;
import com.ice.core.annotation.IceNode;
import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

@IceNode(desc = "adds a line to a file: an effect that outlives the run")
public class NoteResult extends BaseLeafResult {
    @IceField(name = "file")
    public String file = "";

    @Override
    protected boolean doResult(IceRoam roam) {
        try {
            Files.writeString(Path.of(file), "called\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }
}
